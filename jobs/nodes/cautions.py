"""What a node warns of while a job is drawn."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Caution:
    """What is allowed and may still go wrong later: a warning on a field, or with "" on the node, in a sentence that names the remedy."""

    field: str
    message: str
    code: str = "state.grows"
