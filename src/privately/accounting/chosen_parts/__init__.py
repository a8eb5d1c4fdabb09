"""Data that is divided in the light of earlier answers: by lists of parts, by a game, by one pair for all parts."""

from privately.accounting.chosen_parts.beforehand import steadily
from privately.accounting.chosen_parts.games import chosen_as_it_goes
from privately.accounting.chosen_parts.lists import among_parts
from privately.accounting.chosen_parts.pairs import covered

__all__ = ["among_parts", "chosen_as_it_goes", "covered", "steadily"]
