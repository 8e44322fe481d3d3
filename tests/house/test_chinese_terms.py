"""One word for one thing, in all that is said in Chinese."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).resolve().parents[2] / "frontend" / "src"

#: What is not said, as a pattern, and the word that stands for it everywhere.
SAID_OTHERWISE = {
    r'(?<!\{")\btopics?\b': "主题",
    r"\bsubjects?\b": "主体",
    r"\bschemas?\b": "模式",
    r"\bbrokers?\b(?!-)": "代理",
    r"\bcheckpoints?\b(?!Location)": "检查点",
    r"消费组": "消费者组",
    r"注册中心": "注册表",
    r"请求头|消息头|头部": "标头",
    r"按偏移(?!量)": "偏移量",
    r"缓冲已满|缓冲大小": "缓冲区",
}
#: Words that a person writes or reads just so: names in quotes, examples in JSON, values to fill in.
_VERBATIM = re.compile(r"“[^”]*”|\"[^\"]*\"|\{\{\w+\}\}|`[^`]*`")


def texts(found: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(found, str):
        yield path, _VERBATIM.sub("", found)
    else:
        for name, inner in found.items():
            yield from texts(inner, f"{path}/{name}")


def test_one_word_stands_for_one_thing() -> None:
    files = [*SOURCE.rglob("*zh.json")]
    said = [one for file in files for one in texts(json.loads(file.read_text(encoding="utf-8")), str(file.relative_to(SOURCE)))]
    wrong = [f"{path}: {text} – say {word}" for pattern, word in SAID_OTHERWISE.items() for path, text in said if re.search(pattern, text)]
    assert len(files) > 5
    assert wrong == []
