"""A program, private by the laws of its outputs for all neighbours, which are found here from the program itself."""

from functools import partial

from ..elementary import OutOfReach, exponential
from ..intervals import Interval, Undecided, enclose, whole
from ..programs.exact import Beyond
from ..programs.following import Excluded, Follower, Outputs
from ..programs.inputs import Inputs, neighbouring
from ..programs.outputs import Ray, side_by_side
from ..programs.rays import Gap
from ..programs.reading import Private, Program, read_private, read_program, read_public
from ..programs.weights import Field, Weight
from ..schema import Invalid, show
from ..statements import Neighbors
from .step import Rule, Step, read_positive

BITS = (256, 2048)
FINEST = 10**6
TINY = 100
"""Where two numbers agree in so many bits their fingerprints decide whether they are equal."""


def _finite_program(step: Step) -> None:
    step.claim_must_be("PureDP", "ApproxDP")
    _check_inputs(step)
    for bits in BITS:
        try:
            holds = _holds(step, bits)
        except (Beyond, OutOfReach) as reason:
            raise Invalid("parameters.program", f"cannot be followed: {reason}") from None
        except Undecided:
            continue
        if holds:
            return
    raise Invalid("conclusion", "is too close to the truth to be certain")


def _check_inputs(step: Step) -> None:
    """Every input is a variable of the program, and has one origin."""
    program, private, public = (step.parameters[name] for name in ("program", "private", "public"))
    places = [one.variable for one in private] + list(public)
    if len(set(places)) != len(places) or max(places) >= len(program.variables):
        raise Invalid("parameters.private", "must be variables of the program, each once")
    if step.witness["unit"] > FINEST:
        raise Invalid("witness.unit", f"is above {FINEST}")


def _holds(step: Step, bits: int) -> bool:
    """Whether the claim certainly holds for all neighbours; refused where it certainly does not."""
    program, private, public = (step.parameters[name] for name in ("program", "private", "public"))
    field = Field(step.witness["unit"], _seed(step), bits)
    follower = Follower(program, field, step.work)
    pairs = neighbouring(private, step.work)
    step.work.spend(50 * len(pairs) + (bits * bits >> 8))
    laws: dict[Inputs, Outputs] = {}
    everything = dict.fromkeys(one for one, _ in pairs)
    for inputs in everything:
        given = {one.variable: value for one, value in zip(private, inputs, strict=True)}
        try:
            laws[inputs] = follower.law({**public, **given})
        except Excluded:
            continue
    _check_neighbors(step, program, private, all_included=len(laws) == len(everything))
    pairs = [pair for pair in pairs if pair[0] in laws and pair[1] in laws]
    if not pairs:
        raise Invalid("parameters.private", "has no two neighbours that meet the assumptions, so it says nothing")
    growth, delta = _growth(step, field), step.claim.number("delta")
    certain = True
    for one, other in pairs:
        left, right, rays = laws[one], laws[other], list[Ray]()
        if follower.endless:
            left, right, rays = side_by_side(left, right, field, step.work)
        excess = _excess(left, right, growth, step, field)
        for ray in rays:
            same = partial(_equal, growth=growth[1], field=field)
            excess += Gap(*ray, growth[0], same, field).excess(step.work)
        if excess.above(delta):
            name = "epsilon" if step.claim.kind == "PureDP" else "delta"
            needed = f"two neighbouring inputs need delta of {excess.lower_end().text()}"
            raise Invalid(f"conclusion.{name}", f"is too small: {needed}")
        certain = certain and excess.at_most(delta)
    return certain


def _seed(step: Step) -> bytes:
    """All that is claimed."""
    said = (step.parameters["private"], step.parameters["public"], step.witness["unit"])
    numbers = [step.claim.number(name).key() for name in ("epsilon", "delta")]
    program: Program = step.parameters["program"]
    return repr((said, numbers)).encode("ascii", "backslashreplace") + program.document


def _check_neighbors(step: Step, program: Program, private: list[Private], *, all_included: bool) -> None:
    expected = neighbors_of(program, private, all_included=all_included)
    if step.claim.neighbors != expected:
        raise Invalid("conclusion.neighbors", f"must be {show(expected.text())} for these inputs")


def neighbors_of(program: Program, private: list[Private], *, all_included: bool) -> Neighbors:
    """Rows of a data set where that is what neighbours are; otherwise the whole input, as it is declared."""
    if len(private) == 1 and all_included:
        (one,) = private
        lengths = one.lengths or []
        consecutive = lengths == list(range(lengths[0], lengths[0] + len(lengths))) if lengths else False
        if one.change == "replaced" or (one.change == "anything" and len(lengths) <= 1):
            return Neighbors("replace", 1, None, None)
        if one.change == "added" and consecutive:
            return Neighbors("add_remove", 1, None, None)
    said = [_said(program, one) for one in private] + ([] if all_included else ["as assumed"])
    return Neighbors("replace", 1, f"private input ({'; '.join(said)})", None)


def _said(program: Program, private: Private) -> str:
    distance = "" if private.distance is None else f" {private.distance!r}"
    return f"{program.variables[private.variable]}: {private.change}{distance}"


def _growth(step: Step, field: Field) -> tuple[Interval, int | None]:
    """e^epsilon, with its fingerprint if it is a power of t."""
    epsilon = step.claim.number("epsilon")
    if epsilon.is_zero():
        return whole(1, field.bits), 1
    grown = exponential(enclose(epsilon, field.bits + 16))
    power, rest = divmod(epsilon.numerator * field.unit, epsilon.denominator)
    return grown, None if rest else pow(field.point, -power, field.prime)


def _excess(left: Outputs, right: Outputs, growth: tuple[Interval, int | None], step: Step, field: Field) -> Interval:
    """The sum of max(0, P - e^epsilon Q) over all outputs."""
    step.work.spend(15 * len(left))
    total = whole(0, field.bits)
    for output, mass in left.items():
        other = right.get(output)
        if other is None:
            total += mass.interval
            continue
        gap = mass.interval - growth[0] * other.interval
        if gap.high > 0 and not _equal(mass, other, gap, growth[1], field):
            total += Interval(max(gap.low, 0), gap.high, gap.exponent, field.bits)
    return total


def _equal(mass: Weight, other: Weight, gap: Interval, growth: int | None, field: Field) -> bool:
    """Whether two numbers that can hardly be told apart are the same."""
    if growth is None or gap.low > 0 or (mass.mark - growth * other.mark) % field.prime:
        return False
    shift = gap.exponent + TINY - mass.interval.exponent
    return gap.high << max(shift, 0) <= mass.interval.low << max(-shift, 0)


RULES = {
    "finite_program": Rule(
        _finite_program,
        premises=0,
        parameters={"program": read_program, "private": read_private, "public": read_public},
        witness={"unit": read_positive},
    ),
}
