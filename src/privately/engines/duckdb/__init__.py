"""The embedded engine. `sources` says where a table is, `engine` answers; all else serves these two.

Text: `literals`, `functions`, `expressions`, `scanning`, `people`, `stored`, `ranking`, `tallies`, `emission`.
Quicker ways, where they can be gone: `direct` (sums), `choices`, `choosing` and `first_rows` (rows of
people), `histograms` and `binning` (bins).
Processes: `connection`, `counting`, `messages`, `worker`, `pool`. For the owner: `checking`, `lines`, `preparing`.
"""
