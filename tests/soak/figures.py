"""What a soak has measured, as a table and as JSON."""

import statistics
from collections import Counter
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Figures:
    """Times in seconds, memory in MB."""

    seed: int
    database: str
    minutes: float = 0.0
    faults: Counter[str] = field(default_factory=Counter)
    recovered: dict[str, float] = field(default_factory=dict)
    """Fault -> the longest time that all took to be well after it."""
    recoveries: list[float] = field(default_factory=list)
    moves: int = 0
    evictions: int = 0
    endings: Counter[str] = field(default_factory=Counter)
    pages: Counter[int] = field(default_factory=Counter)
    """What pages were answered with while web and the database were there, and something else was not."""
    worst_gap_s: float = 0.0
    """Between two passes, faults included."""
    memory: list[float] = field(default_factory=list)
    """Of the engine's worker, round by round; it starts anew where it was killed."""
    wrong: list[str] = field(default_factory=list)

    def took(self, fault: str, seconds: float) -> None:
        """A fault was recovered from."""
        self.recoveries.append(seconds)
        self.recovered[fault] = max(seconds, self.recovered.get(fault, 0.0))

    def as_json(self) -> dict[str, Any]:
        """All of it, with what is made of it."""
        memory = self.memory or [0.0]
        return {
            "seed": self.seed,
            "database": self.database,
            "minutes": round(self.minutes, 1),
            "rounds": len(self.recoveries),
            "faults": dict(sorted(self.faults.items())),
            "longest_recovery_s": {fault: round(took, 1) for fault, took in sorted(self.recovered.items())},
            "median_recovery_s": round(statistics.median(self.recoveries or [0.0]), 1),
            "moves": self.moves,
            "evictions": self.evictions,
            "decisions": dict(sorted(self.endings.items())),
            "pages_amid_faults": {str(code): times for code, times in sorted(self.pages.items())},
            "worst_pass_gap_s": round(self.worst_gap_s, 1),
            "worker_mb": {"begin": round(memory[0]), "end": round(memory[-1]), "most": round(max(memory))},
            "wrong": self.wrong,
        }

    def table(self) -> str:
        """For people to read."""
        lines = [f"{'fault':28}{'times':>6}{'longest recovery':>20}"]
        for fault, times in sorted(self.faults.items()):
            took = [seconds for names, seconds in self.recovered.items() if fault in names.split(", ")]
            lines.append(f"{fault:28}{times:>6}{max(took, default=0.0):>18.1f} s")
        names = ("minutes", "rounds", "median_recovery_s", "moves", "evictions", "decisions", "pages_amid_faults")
        told = self.as_json()
        rest = (f"{name.replace('_', ' '):28}{told[name]}" for name in (*names, "worst_pass_gap_s", "worker_mb"))
        return "\n".join([*lines, *rest, *(f"WRONG: {one}" for one in self.wrong)])
