"""Tables of candidates that agree in some columns."""

import numpy as np

from privately.proving.refuting.evaluations import Evaluation
from privately.proving.refuting.float_laws import Floats

TABLE = np.array([[0.0, 1.0, 5.0], [0.0, 2.0, 5.0], [0.0, 1.0, 6.0], [3.0, 1.0, 5.0], [0.0, 2.0, 7.0]])


def test_rows_that_agree_are_computed_once_and_told_apart_nowhere_else() -> None:
    evaluation = Evaluation(TABLE)
    sizes: list[int] = []

    def product(part: Evaluation) -> Floats:
        sizes.append(len(part))
        inner = part.of_columns("first", frozenset({0}), lambda inside: inside.candidates[:, 0] + 1)
        return np.asarray(inner * part.candidates[:, 1])

    for _ in range(2):
        found = evaluation.of_columns("product", frozenset({0, 1}), product)
        assert found.tolist() == ((TABLE[:, 0] + 1) * TABLE[:, 1]).tolist()
    assert sizes == [3]
    whole = evaluation.of_columns("sum", frozenset({0, 1, 2}), lambda part: part.candidates.sum(axis=1))
    assert whole.tolist() == TABLE.sum(axis=1).tolist()
    assert evaluation.of_columns("constant", frozenset(), lambda part: np.ones((len(part), 2))).shape == (5, 2)
