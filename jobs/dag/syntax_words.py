"""What is wrong with a text that is no JSON or no YAML, in words of our own: their libraries tell it to programmers."""

_YAML = {
    "mapping values are not allowed in this context": "a colon stands where no key can; put the text in quotes, or begin a new line",
    "found character that cannot start any token": "no value begins with this character; indent with spaces, and put such a text in quotes",
    "found unexpected end of stream": "a quote is not closed",
    "found unknown escape character": "no such character goes with a backslash; write two of them, or use single quotes",
    "did not find expected ',' or ']'": "a list is not closed; write a comma or ]",
    "did not find expected ',' or '}'": "an object is not closed; write a comma or }",
    "did not find expected '-' indicator": "an item of the list before is missing its dash, or the line is not indented as it should be",
    "block sequence entries are not allowed in this context": "a list cannot begin here; begin it on a line of its own",
    "did not find expected key": "the line does not fit those before it; look at how far each is indented",
    "could not find expected ':'": "a key is missing its colon",
    "did not find expected node content": "a value is missing",
    "control characters are not allowed": "it holds a control character; remove it",
}
_JSON = {
    "Expecting value": "a value is missing, or its text is not in quotes",
    "Expecting ':' delimiter": "a key is missing its colon",
    "Expecting ',' delimiter": "a comma is missing, or a bracket is not closed",
    "Expecting property name enclosed in double quotes": "a key in double quotes is missing; behind the last one stands no comma",
    "Illegal trailing comma before end of object": "behind the last key stands no comma",
    "Illegal trailing comma before end of array": "behind the last item stands no comma",
    "Unterminated string starting at": "a quote is not closed",
    "Invalid control character at": "a text holds a line break or another control character; write it as \\n or the like",
    "Invalid \\escape": "no such character goes with a backslash; write two of them",
    "Invalid \\uXXXX escape": "behind \\u belong four hexadecimal digits",
    "Extra data": "behind the end there is more text",
}
_KNOWN = _YAML | _JSON
_ELSE = "it cannot be read from there on"


def syntax_words(told: str, place: tuple[int, int] | None) -> str:
    """What the library `told`; `place` is the line and the column, both counted from 1."""
    words = _KNOWN.get(told, _ELSE if place else "it cannot be read")
    return f"in line {place[0]}, column {place[1]}: {words}" if place else words
