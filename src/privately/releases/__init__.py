"""What leaves the system: a value with its error bars, its guarantee and the proof."""

from privately.releases.release import Release

__all__ = ["Release"]
