"""The cases: events in the words of the JSON encoding, deltas, and the method that answers each."""

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from tests.accounting.references import exact, inversion, recursion
from tests.accounting.references.exact import Answer, ball
from tests.accounting.references.inversion import GaussianLoss, LaplaceLoss, Loss, ResponseLoss, SampledLoss

Event = dict[str, Any]
Deltas = list[Fraction]
Solve = Callable[[Deltas], list[Answer]]
NARROW, WIDE, DEEP = ("1e-3", "1e-5", "1e-7"), ("1e-4", "1e-8", "1e-12"), ("1e-6", "1e-10", "1e-15")
TURNS = (NARROW, WIDE, DEEP)


@dataclass(frozen=True)
class Case:
    """One event with several deltas."""

    family: str
    text: str
    event: Event
    deltas: tuple[str, ...]
    method: str
    solve: Solve


def gaussian(sigma: str) -> Event:
    return {"kind": "Gaussian", "noise_multiplier": sigma}


def laplace(scale: str) -> Event:
    return {"kind": "Laplace", "scale": scale}


def response(epsilon: str, categories: int = 2) -> Event:
    return {"kind": "RandomizedResponse", "epsilon": epsilon, "categories": categories}


def sample(event: Event, rate: str) -> Event:
    return {"kind": "PoissonSample", "event": event, "rate": rate}


def repeat(event: Event, times: int) -> Event:
    return event if times == 1 else {"kind": "Repeat", "event": event, "times": times}


def sequence(events: list[Event]) -> Event:
    return {"kind": "Sequence", "events": events}


def each(solve: Callable[[Fraction], Answer]) -> Solve:
    return lambda deltas: [solve(delta) for delta in deltas]


CLOSED, SUM, INTEGRAL, STEPS = "closed form", "exact sum", "inversion", "real-space recursion"

GAUSSIANS = {
    1: ("50", "3", "1", "0.25", "0.05"),
    2: ("100", "4.7", "1.4", "0.35", "0.07"),
    10: ("300", "10.5", "3.2", "0.8", "0.16"),
    100: ("1000", "33", "10", "2.5", "0.5"),
    1_000: ("3000", "105", "32", "8", "1.6"),
    10_000: ("10000", "333", "100", "25", "5"),
    100_000: ("30000", "1054", "316", "79", "16"),
    1_000_000: ("100000", "3333", "1000", "250", "50"),
}


def gaussians() -> Iterator[Case]:
    for times, sigmas in GAUSSIANS.items():
        for turn, sigma in enumerate(sigmas):
            solve = functools.partial(exact.gaussian, times / Fraction(sigma) ** 2)
            deltas = ("1e-3", "1e-4", "1e-5", "1e-9") if turn == 0 else (*TURNS[turn % 3], "1e-14")
            yield Case(
                "gaussian", f"gaussian {sigma} x{times}", repeat(gaussian(sigma), times), deltas, CLOSED, each(solve)
            )
    for times, sigma in ((1, "1"), (1, "0.1"), (100, "7"), (10_000, "1000"), (1_000_000, "300")):
        solve = functools.partial(exact.gaussian, times / Fraction(sigma) ** 2)
        event, name = repeat(gaussian(sigma), times), f"gaussian {sigma} x{times}"
        yield Case("gaussian deep", name, event, ("1e-20", "1e-30", "1e-50", "1e-75", "1e-100"), CLOSED, each(solve))


LAPLACES = {
    1: ("50", "5", "1", "0.1", "0.004"),
    2: ("20", "1", "0.01"),
    10: ("50", "10", "1", "0.04"),
    100: ("100", "30", "10", "0.5"),
    1_000: ("200", "20"),
}
LONG_LAPLACES = {10_000: ("80", "20", "6"), 100_000: ("400", "100", "25"), 1_000_000: ("3000", "1000", "50")}


def laplaces() -> Iterator[Case]:
    for times, scales in LAPLACES.items():
        for turn, scale in enumerate(scales):
            solve: Solve = functools.partial(exact.laplace, 1 / Fraction(scale), times)
            event, name = repeat(laplace(scale), times), f"laplace {scale} x{times}"
            yield Case("laplace", name, event, TURNS[turn % 3], SUM, solve)
    for times, scales in LONG_LAPLACES.items():
        for turn, scale in enumerate(scales):
            solve = composed([(laplace(scale), times)])
            event, name = repeat(laplace(scale), times), f"laplace {scale} x{times}"
            yield Case("laplace", name, event, TURNS[turn % 3], INTEGRAL, solve)


RESPONSES = {
    1: ("0.05", "1", "6"),
    2: ("0.1", "1"),
    10: ("0.1", "1", "30"),
    100: ("0.01", "0.1", "3"),
    1_000: ("0.05", "0.4"),
    10_000: ("0.001", "0.01", "0.2"),
    100_000: ("0.005", "0.05"),
    1_000_000: ("0.001", "0.02"),
}


def responses() -> Iterator[Case]:
    turn = 0
    for times, sizes in RESPONSES.items():
        for size in sizes:
            turn += 1
            solve = functools.partial(exact.responses, Fraction(size), 2, times)
            event = repeat(response(size), times)
            yield Case("response", f"response {size} x{times}", event, TURNS[turn % 3], SUM, solve)
        for categories in (3, 10, 100):
            turn += 1
            size = sizes[turn % len(sizes)]
            solve = functools.partial(exact.responses, Fraction(size), categories, times)
            event = repeat(response(size, categories), times)
            name = f"response {size} of {categories} x{times}"
            yield Case("response of many", name, event, TURNS[turn % 3], SUM, solve)
    for times, size, rate in (
        (1, "2", "0.1"), (2, "1", "0.5"), (10, "3", "0.01"), (100, "1", "0.1"), (1_000, "1", "0.01"),
        (10_000, "2", "0.001"), (100_000, "0.5", "0.01"), (1_000_000, "0.1", "0.01"),
    ):  # fmt: skip
        turn += 1
        solve = functools.partial(exact.sampled_responses, Fraction(size), Fraction(rate), times)
        event = repeat(sample(response(size), rate), times)
        yield Case("sampled response", f"response {size} rate {rate} x{times}", event, TURNS[turn % 3], SUM, solve)


SAMPLED_GAUSSIANS = {
    1: (("0.5", "0.01"), ("0.8", "0.1"), ("1", "0.001"), ("2", "0.5"), ("5", "0.1"), ("0.5", "0.0001"), ("20", "0.5")),
    2: (("0.5", "0.01"), ("1", "0.1"), ("2", "0.01"), ("0.8", "0.001")),
    10: (("1", "0.01"), ("0.5", "0.5"), ("0.8", "0.1"), ("2", "0.1"), ("0.5", "0.001"), ("5", "0.5"), ("1", "0.5")),
    100: (("1", "0.1"), ("2", "0.01"), ("0.8", "0.5"), ("5", "0.1")),
    1_000: (
        ("0.5", "0.1"),
        ("0.8", "0.01"),
        ("1", "0.01"),
        ("2", "0.1"),
        ("5", "0.5"),
        ("20", "0.1"),
        ("2", "0.01"),
    ),
    10_000: (
        ("0.5", "0.01"),
        ("0.8", "0.01"),
        ("1", "0.01"),
        ("2", "0.01"),
        ("5", "0.1"),
        ("20", "0.5"),
        ("1", "0.001"),
    ),
    100_000: (("0.5", "0.001"), ("0.8", "0.001"), ("1", "0.01"), ("2", "0.01"), ("20", "0.1")),
    1_000_000: (("0.8", "0.001"), ("1", "0.01"), ("2", "0.001"), ("5", "0.01"), ("0.5", "0.0001"), ("20", "0.1")),
}
SAMPLED_LAPLACES = {
    1: (("1", "0.01"), ("0.2", "0.1"), ("5", "0.5"), ("0.5", "0.001")),
    2: (("1", "0.1"), ("0.5", "0.01"), ("2", "0.5")),
    10: (("1", "0.1"), ("0.5", "0.01"), ("2", "0.5"), ("0.8", "0.01")),
    1_000: (("0.5", "0.1"), ("1", "0.1"), ("0.4", "0.01")),
    10_000: (("0.5", "0.01"), ("1", "0.1"), ("2", "0.01"), ("10", "0.5")),
    100_000: (("1", "0.01"), ("5", "0.1")),
    1_000_000: (("1", "0.001"), ("2", "0.01"), ("20", "0.1")),
    100: (("0.5", "0.5"), ("1", "0.5"), ("0.5", "0.1")),
}
RECURSIVE = {("1", "0.01"), ("0.8", "0.1"), ("0.5", "0.001"), ("2", "0.1")}


def sampled_gaussians() -> Iterator[Case]:
    turn = 0
    for times, pairs in SAMPLED_GAUSSIANS.items():
        for sigma, rate in pairs:
            turn += 1
            mu, q = 1 / Fraction(sigma), Fraction(rate)
            event, name = repeat(sample(gaussian(sigma), rate), times), f"gaussian {sigma} rate {rate} x{times}"
            deltas = TURNS[turn % 3]
            if times == 1:
                solve = each(functools.partial(exact.sampled_once, exact.sampled_gaussian_once, mu, q))
                yield Case("sampled gaussian", name, event, deltas, CLOSED, solve)
            elif times == 2 or (times == 10 and (sigma, rate) in RECURSIVE):
                solve = functools.partial(recursion.gaussian, mu, q, times)
                yield Case("sampled gaussian", name, event, deltas, STEPS, solve)
            else:
                solve = composed([(sample(gaussian(sigma), rate), times)])
                yield Case("sampled gaussian", name, event, deltas, INTEGRAL, solve)


def sampled_laplaces() -> Iterator[Case]:
    turn = 0
    for times, pairs in SAMPLED_LAPLACES.items():
        for scale, rate in pairs:
            turn += 1
            size, q = 1 / Fraction(scale), Fraction(rate)
            event, name = repeat(sample(laplace(scale), rate), times), f"laplace {scale} rate {rate} x{times}"
            deltas = TURNS[turn % 3]
            if times == 1:
                solve = each(functools.partial(exact.sampled_once, exact.sampled_laplace_once, size, q))
                yield Case("sampled laplace", name, event, deltas, CLOSED, solve)
            elif times <= 10:
                solve = functools.partial(recursion.laplace, size, q, times)
                yield Case("sampled laplace", name, event, deltas, STEPS, solve)
            else:
                solve = composed([(sample(laplace(scale), rate), times)])
                yield Case("sampled laplace", name, event, deltas, INTEGRAL, solve)


def losses(event: Event) -> tuple[Loss, Loss]:
    """Both directions of a leaf or of a sampled leaf, for the inversion."""
    match event:
        case {"kind": "Gaussian", "noise_multiplier": sigma}:
            loss: Loss = GaussianLoss(ball(1 / Fraction(sigma)))
        case {"kind": "Laplace", "scale": scale}:
            loss = LaplaceLoss(ball(1 / Fraction(scale)))
        case {"kind": "RandomizedResponse", "epsilon": epsilon}:
            loss = ResponseLoss(ball(Fraction(epsilon)))
        case {"kind": "PoissonSample", "event": base, "rate": rate}:
            size = base.get("noise_multiplier") or base["scale"]
            name = base["kind"].lower()
            return inversion.sampled(name, 1 / Fraction(size), Fraction(rate))
        case _:
            raise ValueError(event)
    return loss, loss


def composed(parts: list[tuple[Event, int]]) -> Solve:
    """Solve by inversion."""

    def solve(deltas: Deltas) -> list[Answer]:
        inversion.prepare()
        pairs = [(losses(event), times) for event, times in parts]
        remove, add = ([(pair[way], times) for pair, times in pairs] for way in (0, 1))
        symmetric = not any(isinstance(loss, SampledLoss) for loss, _ in remove)
        return [inversion.both(remove, None if symmetric else add, delta) for delta in deltas]

    return solve


def mixtures() -> Iterator[Case]:
    def case(text: str, events: list[Event], deltas: tuple[str, ...], times: int = 1) -> Case:
        solve = composed([(event, times) for event in events])
        return Case("mixture", text, repeat(sequence(events), times), deltas, INTEGRAL, solve)

    far = [gaussian(str(s)) for s in range(20, 70)]
    wide = [laplace(str(b)) for b in range(30, 80)]
    for text, sigmas in (
        ("100 gaussians 5..104", [Fraction(s) for s in range(5, 105)]),
        ("100 gaussians 0.5..10.4", [Fraction(s, 10) for s in range(5, 105)]),
        ("100 gaussians 100..1090", [Fraction(10 * s) for s in range(10, 110)]),
    ):
        precision = sum((1 / s**2 for s in sigmas), Fraction(0))
        solve = each(functools.partial(exact.gaussian, precision))
        event = sequence([gaussian(str(s)) for s in sigmas])
        yield Case("mixture", text, event, (*NARROW, *WIDE), CLOSED, solve)
    yield case(
        "hetero100: gaussians 20..69, laplaces 30..79", far + wide, ("1e-5", "1e-6", "1e-8", "1e-10", "1e-3", "1e-15")
    )
    for times in (100, 10_000):
        yield case(f"hetero100 x{times}", far + wide, WIDE, times)
    for size, first in (("0.1", 10), ("1", 20)):
        noises = range(first, first + 50)
        precision = sum((Fraction(1, s**2) for s in noises), Fraction(0))
        solve = each(functools.partial(exact.responses_and_gaussian, [(Fraction(size), 50)], precision))
        event = sequence([repeat(response(size), 50), *(gaussian(str(s)) for s in noises)])
        text = f"50 responses {size}, gaussians {noises[0]}..{noises[-1]}"
        yield Case("mixture", text, event, WIDE, SUM, solve)
    distinct = [response(f"0.{k:02}") for k in range(1, 51)]
    yield case("responses 0.01..0.50, gaussians 20..69", distinct + far, DEEP)
    sampled = [sample(gaussian(f"0.{k}"), "0.01") for k in range(60, 100)]
    sampled += [sample(gaussian(f"1.{k:02}"), f"0.0{k + 10}") for k in range(60)]
    often = [sample(gaussian(f"1.{k:02}"), f"0.{k + 100}") for k in range(100)]
    yield case("100 sampled gaussians 1.00..1.99, rates 0.100..0.199", often, ("1e-5", "1e-10"))
    yield case("100 sampled gaussians 0.60..1.59 x100", sampled, ("1e-4", "1e-8"), 100)
    few = [sample(laplace(f"0.{k}"), "0.05") for k in range(50, 75)]
    yield case("25 sampled laplaces, 75 gaussians", few + [gaussian(str(s)) for s in range(20, 95)], NARROW)
    quarter = [*far[:25], *wide[:25], *distinct[:25], *sampled[:25]]
    yield case("25 each: gaussian, laplace, response, sampled gaussian", quarter, DEEP)
    yield case("25 each, x1000", quarter, WIDE, 1_000)


SLOW: dict[str, tuple[str, ...]] = {
    "gaussian 0.8 rate 0.1 x10": DEEP,
    "gaussian 2 rate 0.1 x10": NARROW,
    "gaussian 0.5 rate 0.001 x10": WIDE,
    "gaussian 2 rate 0.01 x100": DEEP,
    "gaussian 0.5 rate 0.0001 x1000000": WIDE,
    "laplace 0.5 rate 0.01 x10": ("1e-5",),
    "laplace 0.8 rate 0.01 x10": DEEP,
    "100 sampled gaussians 0.60..1.59 x100": ("1e-4", "1e-8"),
    "25 each: gaussian, laplace, response, sampled gaussian": DEEP,
}
"""Left out, by text and delta: by these methods each takes more than a few minutes, some of them hours."""


def cases() -> list[Case]:
    """Every length of every family has cases that do not take long."""
    found = [*gaussians(), *laplaces(), *responses(), *sampled_gaussians(), *sampled_laplaces(), *mixtures()]
    kept = [
        replace(case, deltas=tuple(delta for delta in case.deltas if delta not in SLOW.get(case.text, ())))
        for case in found
    ]
    return [case for case in kept if case.deltas]
