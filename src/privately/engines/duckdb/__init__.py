"""The embedded engine. `sources` says where a table is, `engine` answers; all else serves these two.

Text: `literals`, `functions`, `expressions`, `scanning`, `people`, `stored`, `ranking`, `tallies`, `emission`.
Processes: `connection`, `counting`, `messages`, `worker`, `pool`. For the owner: `checking`, `lines`, `preparing`.
"""
