"""How thoroughly to measure."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Settings:
    """What holds for all rows of a run.

    Args:
        quick: Tiny sizes, to see that everything runs.
        rounds: How many rounds to time at most.
        seconds: Begin no new round of a row after so many.
        memory: Whether to measure peak memory.
        gibibytes: What a child process may take before it is stopped.
    """

    quick: bool = False
    rounds: int = 30
    seconds: float = 20.0
    memory: bool = True
    gibibytes: float = 20.0
