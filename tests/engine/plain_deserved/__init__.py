"""What consumers deserve, the long way round: the shares of policy ``deserved`` are held against it."""

from tests.engine.plain_deserved.dividing import deserved
from tests.engine.plain_deserved.filling import Claim, fill
from tests.engine.plain_deserved.ground import ground

__all__ = ["Claim", "deserved", "fill", "ground"]
