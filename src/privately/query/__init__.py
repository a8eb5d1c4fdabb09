"""From the text of a question to a certified answer.

`parsing` and `binding` make a plan of the text, or refuse it with the place in the text and what to write instead.
"""

from privately.query.binding import bind

__all__ = ["bind"]
