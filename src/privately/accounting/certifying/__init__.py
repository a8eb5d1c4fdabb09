"""Accounting with a certificate: what an independent checker is shown, so that it derives an epsilon again.

`deriving` asks; `cases` says what the checker will add up for an event, by its own names (`laws`, `pairs`, `moments`,
`layouts`); `roads` lead from such a list to a witness (`contours`, `cells`), and `bounds` takes the best of them.
"""

from privately.accounting.certifying.deriving import derive

__all__ = ["derive"]
