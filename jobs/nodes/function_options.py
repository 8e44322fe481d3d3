"""Which options of Spark's functions a person may write: with others these functions open files and addresses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from jobs.nodes.base import NodeError


class _Options(NamedTuple):
    """At which argument a function's options begin, and those that reach nothing, in small letters."""

    place: int
    allowed: frozenset[str]


#: Lists of what is allowed, as another Spark may have more that reach further. Not avroSchemaUrl, not rowValidationXSDPath.
_AVRO = frozenset(
    [
        "avroschema",
        "mode",
        "datetimerebasemode",
        "positionalfieldmatching",
        "recursivefieldmaxdepth",
        "recordname",
        "recordnamespace",
        "compression",
        "ignoreextension",
        "enablestableidentifiersforuniontype",
        "stableidentifierprefixforuniontype",
    ]
)
_XML = frozenset(
    [
        "arrayelementname",
        "attributeprefix",
        "charset",
        "columnnameofcorruptrecord",
        "compression",
        "dateformat",
        "declaration",
        "encoding",
        "excludeattribute",
        "ignorenamespace",
        "ignoresurroundingspaces",
        "indent",
        "inferschema",
        "locale",
        "mode",
        "multiline",
        "nullvalue",
        "preferdate",
        "prefersdecimal",
        "roottag",
        "rowtag",
        "samplingratio",
        "singlevariantcolumn",
        "timeformat",
        "timezone",
        "timestampformat",
        "timestampntzformat",
        "uselegacyxmlparser",
        "validatename",
        "valuetag",
        "version",
        "wildcardcolname",
    ]
)
_WITH_OPTIONS: Mapping[str, _Options] = {
    "from_avro": _Options(2, _AVRO),
    "schema_of_avro": _Options(1, _AVRO),
    "from_xml": _Options(2, _XML),
    "to_xml": _Options(1, _XML),
    "schema_of_xml": _Options(1, _XML),
}
_READS_FILES = frozenset({"from_protobuf", "to_protobuf"})
#: The names of all that `options_check` looks at.
FUNCTIONS_WITH_OPTIONS = (*_WITH_OPTIONS, *_READS_FILES)


def options_check(name: str, node: Any) -> None:
    """NodeError where the parsed call `node` of the function `name` could open a file or an address by its options."""
    if name in _READS_FILES:
        raise _refused(f"the function {name} is not allowed: it reads its description from a file")
    known = _WITH_OPTIONS.get(name)
    for key in _keys(name, node, known.place) if known else ():
        if known and key.lower() not in known.allowed:
            raise _refused(f'the option "{key}" of {name} is not allowed here')


def _keys(name: str, node: Any, place: int) -> Iterator[str]:
    """The names of the options; NodeError unless they can be read off."""
    for argument in list(_children(node))[place:]:
        parts = list(_children(argument))
        is_map = _kind(argument) == "UnresolvedFunction" and str(argument.nameParts().mkString(".")).lower() == "map"
        if not is_map or any(_kind(key) != "Literal" or key.dataType().simpleString() != "string" for key in parts[::2]):
            raise _refused(f"the options of {name} have to be written out, as in map('mode', 'PERMISSIVE')")
        yield from (str(key.value()) for key in parts[::2])


def _children(node: Any) -> Iterator[Any]:
    children = node.children()
    return (children.apply(index) for index in range(children.size()))


def _kind(node: Any) -> str:
    return str(node.getClass().getSimpleName())


def _refused(message: str) -> NodeError:
    return NodeError(message, permanent=True, kind="user")
