"""From the text of a question to a certified answer.

`parsing` and `binding` make a plan of the text, or refuse it with the place in the text and what to write instead.
`uses` and `allocation` choose the noise, `asking` what it may cost, `proving` derives the cost, `pricing` holds it,
`explaining` tells it; `sessions` charges, has it counted and draws (`drawing`); `estimates` and `showing` make what
`results` shows. `declaring` and `opening` are for the owner of the data.
"""

from privately.engines.protocol import Limits
from privately.query.binding import bind
from privately.query.opening import OwnerWarning, open, prepare  # noqa: A004 - the word for it
from privately.query.results import Result
from privately.query.sessions import Session

__all__ = ["Limits", "OwnerWarning", "Result", "Session", "bind", "open", "prepare"]
