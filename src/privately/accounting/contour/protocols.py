"""What the contour integral asks of a loss law."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from privately.accounting.contour.atoms import Atoms
from privately.accounting.contour.scattering import Scattering
from privately.accounting.contour.view import View
from privately.accounting.elementary import Floats


class Sketch(Protocol):
    """ln M(c), nearly."""

    def cumulants(self, c: float) -> tuple[float, float, float]: ...
    def levels(self, heights: Floats) -> Floats: ...


class Sketched(Protocol):
    """What a law offers for a first look."""

    def rough(self, highest: float) -> Sketch: ...


@runtime_checkable
class Guided(Protocol):
    """What some laws know of themselves without a look: about the variance, and where ln M grows too steep."""

    @property
    def rough_variance(self) -> float: ...
    def steep_from(self, times: int) -> float: ...


class Gridded(Protocol):
    """Points of a law that serve a range of contours; endless ones serve all frequencies."""

    @property
    def size(self) -> int: ...
    @property
    def is_endless(self) -> bool: ...
    def log_mass_above(self, c: float) -> float: ...
    def view(self, c: float, reach: float) -> View: ...
    def decay(self, c: float, frequencies: Floats) -> Floats: ...
    def atoms(self, c: float, view: View, times: int) -> Atoms | None: ...


@runtime_checkable
class Scattered(Protocol):
    """Atoms of many laws, which all turn differently."""

    def scatter(self, c: float, into: Scattering) -> None: ...


class Law(Sketched, Protocol):
    """A loss law as the contour integral needs it."""

    def grid(self, c: float, highest: float, reach: float, quiet: float) -> Gridded: ...
