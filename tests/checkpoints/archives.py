"""Archives of checkpoints as a test wants them: taken apart, changed, put together again."""

import hashlib
import io
import json
import tarfile
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from django.test import Client

from checkpoints.manifest import manifest_parse, manifest_text


@dataclass
class Parts:
    """`facts`: what its first file says. `entries`: header and content of each other one."""

    facts: dict[str, Any]
    entries: list[tuple[tarfile.TarInfo, bytes]] = field(default_factory=list)

    def file(self, name: str, content: bytes, *, announced: bool = True) -> None:
        entry = tarfile.TarInfo(name)
        entry.size = len(content)
        self.entries.append((entry, content))
        if announced:
            self.facts["files"][name] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}

    def special(self, name: str, kind: bytes, target: str = "") -> None:
        entry = tarfile.TarInfo(name)
        entry.type, entry.linkname = kind, target
        self.entries.append((entry, b""))

    def header(self, said: dict[str, str]) -> None:
        """One more file whose header says more of it."""
        entry = tarfile.TarInfo("out/odd")
        entry.pax_headers = said
        self.entries.append((entry, b""))

    def without(self, name: str) -> None:
        self.entries = [(entry, content) for entry, content in self.entries if entry.name != name]

    def changed(self, name: str, change: Callable[[bytes], bytes], *, announced: bool = True) -> None:
        content = next(content for entry, content in self.entries if entry.name == name)
        self.without(name)
        self.file(name, change(content), announced=announced)

    def manifest(self, **said: Any) -> None:
        """Another word on its query, with the checksum that fits."""

        def change(content: bytes) -> bytes:
            facts = manifest_parse(content)
            facts["queries"]["out"].update(said)
            return manifest_text(facts).encode()

        self.changed("manifest.json", change)

    @property
    def bytes(self) -> bytes:
        out = io.BytesIO()
        first = json.dumps(self.facts).encode()
        with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
            entry = tarfile.TarInfo("archive.json")
            entry.size = len(first)
            archive.addfile(entry, io.BytesIO(first))
            for header, content in self.entries:
                archive.addfile(header, io.BytesIO(content))
        return out.getvalue()


def parts_of(archive: bytes) -> Parts:
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        found = [(entry, opened.extractfile(entry).read()) for entry in opened]  # type: ignore[union-attr]
    return Parts(json.loads(found[0][1]), found[1:])


def exported(client: Client, checkpoint_id: int) -> bytes:
    answer = client.get(f"/api/checkpoints/{checkpoint_id}/archive")
    assert answer.status_code == 200, answer.content
    archive = b"".join(answer.streaming_content)  # type: ignore[attr-defined]
    assert answer["Content-Length"] == str(len(archive))
    return archive


def imported(client: Client, job_name: str, archive: bytes, expected: int = 201) -> Any:
    file = io.BytesIO(archive)
    file.name = "a.tar"
    answer = client.post(f"/api/jobs/{job_name}/checkpoints/import", {"file": file})
    assert answer.status_code == expected, answer.content
    return answer.json()
