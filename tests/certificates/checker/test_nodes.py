from privately.certificates.checker.nodes import Node
from privately.certificates.checker.rules import RULES
from privately.certificates.checker.statements import read_statement
from tests.certificates.checker.building import statement


def test_a_node_has_the_form_of_its_rule() -> None:
    rule = RULES["discrete_laplace"]
    node = Node("discrete_laplace", rule.form(0), [], {}, {}, read_statement(statement("PureDP", epsilon=1)))
    assert node.rule.parameters.keys() == {"scale", "sensitivity"}
    assert rule.form(1).parameters.keys() == {"scale"}
    assert rule.form(1).takes == {"Sensitivity"}
    assert RULES["sequential"].form(3) is RULES["sequential"]
