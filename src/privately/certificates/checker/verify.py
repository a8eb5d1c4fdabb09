"""From the bytes of a certificate to a report, or to the reason why it is refused."""

import os
import stat
from collections.abc import Mapping
from typing import Any, NamedTuple

from .canonical import content_hash, is_hash
from .nodes import Node
from .plan import plan_lines
from .programs.showing import program_lines
from .rationals import Rational
from .report import Report
from .rules import RULES, Parser, Step
from .schema import FILE_BYTES, NODES, Invalid, array, integers, members, read_json, show
from .statements import GUARANTEES, Statement, read_statement
from .work import Work

SCHEMA = "privately.certificate/1"

_CERTIFICATE = frozenset({"schema", "subject", "nodes", "hash"})
_NODE = frozenset({"rule", "premises", "parameters", "witness", "conclusion"})


class Certificate(NamedTuple):
    """A certificate as read: well-formed, and nothing more."""

    nodes: list[Node]
    subject: str | None
    hash: str


def check_file(path: str | os.PathLike[str], *, allow_assumptions: bool = False) -> Report:
    """Check a certificate in a file."""
    return check(read_file(path), allow_assumptions=allow_assumptions)


def read_file(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a regular file, and never more of them than a certificate may have."""
    try:
        status = os.stat(path)  # noqa: PTH116 - pathlib costs more to import than all of this
        if not stat.S_ISREG(status.st_mode):
            raise Invalid("file", "is not a regular file")
        if status.st_size > FILE_BYTES:
            raise Invalid("file", "is larger than 16 MiB")
        with open(path, "rb") as file:  # noqa: PTH123
            return file.read(FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise Invalid("file", f"cannot be read: {reason}") from None


def check(data: bytes | str, *, allow_assumptions: bool = False) -> Report:
    """Check a certificate. Raise `Invalid` if anything is wrong with it."""
    try:
        return _check(read_certificate(data), allow_assumptions=allow_assumptions)
    except _BEYOND as error:
        raise _beyond(error) from None


def read_certificate(data: bytes | str) -> Certificate:
    """Read a certificate without deriving anything: its form, its limits and its hash are right, or it is `Invalid`."""
    try:
        return _read(data)
    except _BEYOND as error:
        raise _beyond(error) from None


# Nothing known raises these; whatever does is a certificate that we cannot judge, and so refuse.
_BEYOND = (ArithmeticError, LookupError, MemoryError, RecursionError, ValueError)


def _beyond(error: Exception) -> Invalid:
    return Invalid("file", f"is beyond what can be checked ({type(error).__name__})")


def _read(data: bytes | str) -> Certificate:
    raw = members(read_json(data), _CERTIFICATE, "certificate")
    if raw["schema"] != SCHEMA:
        raise Invalid("schema", f"must be {SCHEMA}, not {show(raw['schema'])}")
    if raw["subject"] is not None and not is_hash(raw["subject"]):
        raise Invalid("subject", "must be null or sha256: and 64 hexadecimal digits")
    nodes = _read_nodes(raw["nodes"])
    if not is_hash(raw["hash"]):
        raise Invalid("hash", "must be sha256: and 64 hexadecimal digits")
    if raw["hash"] != content_hash(raw):
        raise Invalid("hash", "is not that of the contents")
    return Certificate(nodes, raw["subject"], raw["hash"])


def _check(certificate: Certificate, *, allow_assumptions: bool) -> Report:
    nodes = certificate.nodes
    assumed = [i for i, node in enumerate(nodes) if node.name == "assumption"]
    if assumed and not allow_assumptions:
        raise Invalid(f"nodes[{assumed[0]}].rule", "is an assumption, and assumptions are not allowed here")
    if nodes[-1].claim.kind not in GUARANTEES:
        raise Invalid(f"nodes[{len(nodes) - 1}].conclusion.kind", "must be a guarantee: it is what is claimed")
    _check_nodes(nodes)
    return Report(
        claim=nodes[-1].claim,
        assumptions=tuple(_assumption_text(i, nodes[i]) for i in assumed),
        node_count=len(nodes),
        rules=tuple(sorted({node.name for node in nodes})),
        hash=certificate.hash,
        subject=certificate.subject,
        plan=tuple(plan_lines(nodes)),
        claimed=tuple(_claim_text(i, node) for i, node in enumerate(nodes) if _only_claims(node)),
        programs=tuple(line for node in nodes if "program" in node.parameters for line in _program_lines(node)),
    )


def _read_nodes(value: object) -> list[Node]:
    raw = array(value, "nodes")
    if not 1 <= len(raw) <= NODES:
        raise Invalid("nodes", f"must be 1 to {NODES}")
    nodes = []
    used = bytearray(len(raw))
    for i, item in enumerate(raw):
        try:
            node = _read_node(members(item, _NODE, f"nodes[{i}]"), i)
        except Invalid as error:
            raise (error if error.field.startswith("nodes[") else error.within(f"nodes[{i}]")) from None
        for premise in node.premises:
            used[premise] = 1
        nodes.append(node)
    unused = used.find(0, 0, len(raw) - 1)
    if unused >= 0:
        raise Invalid(f"nodes[{unused}]", "is used by no later node")
    return nodes


def _read_node(raw: dict[str, Any], index: int) -> Node:
    name = raw["rule"]
    if not isinstance(name, str) or name not in RULES:
        raise Invalid("rule", f"is not a rule: {show(name)}")
    premises = integers(raw["premises"], "premises", least=0)
    rule = RULES[name].form(len(premises))
    if rule.premises is None and not premises:
        raise Invalid("premises", "must be at least one")
    if rule.premises is not None and len(premises) != rule.premises:
        raise Invalid("premises", f"must be {rule.premises}, not {len(premises)}")
    if premises and max(premises) >= index:
        place = next(j for j, premise in enumerate(premises) if premise >= index)
        raise Invalid(f"premises[{place}]", "must be an earlier node")
    return Node(
        name,
        rule,
        premises,
        _read_members(raw["parameters"], rule.parameters, "parameters"),
        _read_members(raw["witness"], rule.witness, "witness"),
        read_statement(raw["conclusion"]),
    )


def _read_members(value: object, parsers: Mapping[str, Parser], field: str) -> dict[str, Any]:
    raw = members(value, frozenset(parsers), field)
    return {name: parse(raw[name], f"{field}.{name}") for name, parse in parsers.items()}


def _assumption_text(index: int, node: Node) -> str:
    statement, reference = node.parameters["statement"], node.parameters["reference"]
    source = f" ({reference!a})" if reference else ""
    return f"node {index} takes for granted {node.claim.text()}: {statement!a}{source}"


def _program_lines(node: Node) -> list[str]:
    program, private, public = (node.parameters[name] for name in ("program", "private", "public"))
    return program_lines(program, private, public)


def _only_claims(node: Node) -> bool:
    """Whether a premise could have said what is only a claim among its parameters."""
    return not node.premises and node.rule.derived is not None


def _claim_text(index: int, node: Node) -> str:
    names = node.rule.parameters.keys() - (node.rule.derived or node.rule).parameters.keys()
    said = " and ".join(f"{name} {_said(node.parameters[name])}" for name in sorted(names))
    return f"node {index}, {node.name}: {said}"


def _said(value: Any) -> str:
    return value.text() if isinstance(value, Rational) else show(value)


def _check_nodes(nodes: list[Node]) -> None:
    work = Work()
    planned: list[bool] = []
    for i, node in enumerate(nodes):
        premises = [nodes[premise].claim for premise in node.premises]
        planned.append(node.claim.kind not in GUARANTEES or any(planned[premise] for premise in node.premises))
        try:
            work.spend(2 + sum(1 + len(premise.bounds) for premise in premises))
            _known_kinds(node, premises)
            _about_any_rows(node, planned=planned[i])
            if node.rule.same_neighbors:
                _same_neighbors(node.claim, premises)
            node.rule.check(Step(node.claim, premises, node.parameters, node.witness, work))
        except Invalid as error:
            raise error.within(f"nodes[{i}]") from None


def _known_kinds(node: Node, premises: list[Statement]) -> None:
    """Guarantees follow from guarantees, unless a rule says otherwise."""
    for j, premise in enumerate(premises):
        if premise.kind not in node.rule.takes:
            raise Invalid(f"premises[{j}]", f"is {premise.kind}, which the rule does not take")
    if node.claim.kind not in node.rule.gives:
        raise Invalid("conclusion.kind", f"is {node.claim.kind}, which the rule does not give")


def _about_any_rows(node: Node, *, planned: bool) -> None:
    if planned and node.rule.any_rows:
        raise Invalid("premises", "rest on the scan of a table, and so are about all of its rows")


def _same_neighbors(claim: Statement, premises: list[Statement]) -> None:
    for j, premise in enumerate(premises):
        if premise.neighbors != claim.neighbors:
            raise Invalid("conclusion.neighbors", f"differ from those of premises[{j}]")
