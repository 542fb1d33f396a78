"""What a measurement hands over, and how it is printed."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

NAME_WIDTH = 50
MAX_SAMPLES_SHOWN = 8


@dataclass(frozen=True)
class Figure:
    """One quantity, once per round."""

    name: str
    samples: Sequence[float]
    unit: str

    @property
    def value(self) -> float:
        return median(self.samples)

    def __str__(self) -> str:
        shown = f"{_number(self.value):>8} {self.unit}"
        if len(self.samples) > MAX_SAMPLES_SHOWN:
            shown += f"   ({len(self.samples)} rounds: {_number(min(self.samples))} to {_number(max(self.samples))})"
        elif len(self.samples) > 1:
            shown += f"   (rounds: {', '.join(_number(sample) for sample in self.samples)})"
        return f"  {self.name:{NAME_WIDTH}}{shown}"


@dataclass(frozen=True)
class Check:
    """A figure held against its target."""

    name: str
    value: float
    target: float
    unit: str = "×"
    at_most: bool = False

    @property
    def is_met(self) -> bool:
        return self.value <= self.target if self.at_most else self.value >= self.target

    def __str__(self) -> str:
        sign, verdict = "≤" if self.at_most else "≥", "ok" if self.is_met else "MISSED"
        shown = f"{_number(self.value):>8} {self.unit}"
        return f"  {self.name:{NAME_WIDTH}}{shown:22}target {sign} {_number(self.target)} {self.unit}   {verdict}"


@dataclass(frozen=True)
class Section:
    """One measurement: its title says what was done."""

    title: str
    figures: Sequence[Figure]
    checks: Sequence[Check] = field(default_factory=tuple)

    def __str__(self) -> str:
        return "\n".join([self.title, *map(str, self.figures), *map(str, self.checks), ""])


def ratio(of: Figure, to: Figure) -> float:
    """Return the median of the rounds' ratios: the sides of one round ran one after the other, under the same load."""
    return median(one / other for one, other in zip(of.samples, to.samples, strict=True))


def _number(value: float) -> str:
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f}"
