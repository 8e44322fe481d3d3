"""What becomes of a job's rows when something fails, as it is sent."""

from jobs.nodes.guarantees import Guarantee
from jobs.selectors.shapes.base import Shape


class DeliveryNodeOut(Shape):
    """What a source or sink gives as it is configured."""

    node_id: str
    name: str
    type: str
    guarantee: Guarantee


class DeliveryOut(Shape):
    """Whether a row arrives once when something fails: what all sources and sinks give together, and each by itself."""

    guarantee: Guarantee
    nodes: list[DeliveryNodeOut]
