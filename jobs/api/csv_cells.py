"""Values as cells of a CSV file that people open in a spreadsheet."""

import json
import re
from typing import Any

#: What a cell begins with that spreadsheets take for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
#: Decimals come as texts too.
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def csv_cell(value: Any) -> Any:
    """As a spreadsheet shows it and does not run it: a text that it would take for a formula gets an apostrophe. Numbers stay numbers."""
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    is_formula = isinstance(value, str) and value.startswith(_FORMULA) and not _NUMBER.fullmatch(value)
    return f"'{value}" if is_formula else value
