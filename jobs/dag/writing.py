"""A document as the text of a file, which is read back as it was."""

import json
import re
from collections.abc import Mapping
from typing import Any, Literal

import yaml

from jobs.dag.reading_yaml import is_text

#: Line ends to YAML, which would fold them.
_SEPARATORS = re.compile("[\x85\u2028\u2029]")


def document_text(document: Mapping[str, Any], chosen: Literal["json", "yaml"]) -> str:
    if chosen == "yaml":
        return yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True)
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


class _Dumper(yaml.SafeDumper):
    """PyYAML writes YAML 1.1, to which 0815 and 1e5 are texts; what is read is YAML 1.2."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = '"' if _SEPARATORS.search(text) else None if is_text(text) else "'"
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)
