"""A priced question costs what its proof concludes."""

from tests.query.test_explaining import told


def test_the_cost_is_the_conclusion_of_the_proof() -> None:
    for text in ("SELECT COUNT(*) AS n FROM visits", "SELECT AVG(cost) AS a, MEDIAN(age) AS m FROM visits"):
        assert told(text, epsilon="0.7").cost.parameters["epsilon"] * 10 == 7
