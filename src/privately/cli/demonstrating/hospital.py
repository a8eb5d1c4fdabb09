"""A made-up table of hospital visits: the same on every machine, and nobody's."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import numpy as np

ROWS = 200_000
WARDS = {
    # of all visits, usual age, its spread, nights, cost of a night
    "Cardiology": (0.08, 67, 13, 4.0, 1_100),
    "Emergency": (0.27, 46, 24, 0.6, 850),
    "Maternity": (0.10, 31, 5, 2.5, 1_000),
    "Medicine": (0.20, 63, 18, 4.5, 700),
    "Oncology": (0.06, 61, 14, 5.0, 1_500),
    "Paediatrics": (0.09, 7, 5, 1.8, 800),
    "Psychiatry": (0.04, 41, 15, 12.0, 500),
    "Surgery": (0.16, 55, 19, 3.5, 1_400),
}
MOST_VISITS = 6
HIGHEST_COST = 20_000

DECLARATION = f"""\
[table]
unit = "patient"
max_rows_per_unit = {MOST_VISITS}

[columns.patient]
type = "integer"
nullable = false

[columns.day]
type = "date"
nullable = false

[columns.ward]
type = "text"
categories = [{", ".join(f'"{ward}"' for ward in WARDS)}]
nullable = false

[columns.age]
type = "integer"
bounds = [0, 110]

[columns.nights]
type = "integer"
bounds = [0, 60]

[columns.cost]
type = "real"
bounds = [0, {HIGHEST_COST}]
"""


def write_visits(path: Path, rows: int = ROWS, seed: int = 2026) -> None:
    """The table as a CSV file, and its declaration as a TOML file beside it."""
    random = np.random.default_rng(seed)
    visits = 1 + random.poisson(1.5, size=rows)  # of one patient: two and a half, seldom more than six
    patients = random.permutation(np.repeat(np.arange(1, rows + 1), visits)[:rows])
    about = np.array(list(WARDS.values()))
    wards = random.choice(len(WARDS), size=rows, p=about[:, 0])
    ages = np.clip(np.rint(random.normal(about[wards, 1], about[wards, 2])), 0, 102).astype(int)
    nights = np.minimum(random.geometric(1 / (1 + about[wards, 3])) - 1, 90)
    costs = np.round((0.6 + nights) * about[wards, 4] * random.lognormal(0, 0.35, size=rows), 2)
    seasons = 1 + 0.35 * np.cos(2 * np.pi * (np.arange(365) - 20) / 365)  # the winters are full
    days = random.choice(365, size=rows, p=seasons / seasons.sum())
    first, names = date(2025, 1, 1), list(WARDS)
    calendar = [(first + timedelta(days=day)).isoformat() for day in range(365)]
    lines = [
        f"{patient},{calendar[day]},{names[ward]},{age},{stayed},{cost}\n"
        for patient, day, ward, age, stayed, cost in zip(
            patients.tolist(),
            days.tolist(),
            wards.tolist(),
            ages.tolist(),
            nights.tolist(),
            costs.tolist(),
            strict=True,
        )
    ]
    path.write_text("patient,day,ward,age,nights,cost\n" + "".join(lines), encoding="utf-8")
    path.with_suffix(".toml").write_text(DECLARATION, encoding="utf-8")
