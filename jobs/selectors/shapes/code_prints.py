"""What a person's Python printed."""

from jobs.selectors.shapes.base import Shape


class CodePrint(Shape):
    """Once for each node and text, however often it was printed."""

    node_id: str
    text: str
