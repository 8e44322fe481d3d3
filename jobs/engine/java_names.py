"""Names of Java's packages, classes and functions, asked of the JVM once.

PySpark asks for each of them whenever it calls one, several times a column, and for a name that is no class Java looks through all jars.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from py4j.java_gateway import JavaClass, JavaMember, JavaPackage, JVMView

_ASKS = "__getattr__"


def java_names_keep() -> None:
    """From here on in this process. A name that may become that of a class, as by an import, is asked for again until it is one."""
    for kind in (JVMView, JavaPackage, JavaClass):
        ask = getattr(kind, _ASKS)
        if not hasattr(ask, "keeps"):
            setattr(kind, _ASKS, _keeping(ask))


def _keeping(ask: Callable[[Any, str], Any]) -> Callable[[Any, str], Any]:
    def asked_once(owner: Any, name: str) -> Any:
        found = ask(owner, name)
        if isinstance(found, JavaClass | JavaMember) or (isinstance(found, JavaPackage) and name.islower()):
            vars(owner)[name] = found
        return found

    vars(asked_once)["keeps"] = True
    return asked_once
