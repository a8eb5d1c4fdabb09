"""From a tree of SQL to a question of the plan: names become identities, nodes become calls of listed functions.

`names` and `relations` say which rows and columns are meant, `expressions` and `constants` what is made of them,
`aggregates` which whole numbers are asked for, `keys` which groups are public, and `outputs` what is shown in the end.
"""

from privately.query.binding.questions import bind

__all__ = ["bind"]
