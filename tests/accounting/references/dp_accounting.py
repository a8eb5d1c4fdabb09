"""What dp-accounting says of epsilon(delta): its PLD accountant with default settings, adding or removing one row.

    benchmarks/peers/dp-accounting/bin/python -m tests.accounting.references.dp_accounting

From the root of the repository, after `make peers`; made with dp-accounting 0.6.0 (numpy 2.4.6, scipy 1.17.1) in a
quarter of a minute. It imports nothing of ours. Writes dp_accounting.csv beside this file: family, text, event (the
JSON encoding of events), delta, epsilon (all digits of their float), method.

Their accountant takes randomized response for replaced rows only, and counts it once where it is repeated. So these
rows compose their loss distribution of it, which has the same grid. There every loss is rounded up to the grid, to the
next point already where it is on the grid but for the last digit of a float. The epsilons of the family "response" are
on it in their floats too; that of "response off the grid" is not.
"""

import csv
import json
import time
from collections.abc import Iterator
from importlib.metadata import version
from math import exp
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("dp_accounting.csv")
FIELDS = ["family", "text", "event", "delta", "epsilon", "method"]
DELTAS = ("1e-3", "1e-5", "1e-7")
LENGTHS = (1, 2, 10, 100, 1_000, 10_000)
Event = dict[str, Any]

GAUSSIANS = ("0.8", "3", "2", "20", "25", "300")
LAPLACES = ("0.5", "3", "8", "10", "40", "150")
RESPONSES = (("2", 5), ("0.7", 2), ("0.55", 5), ("0.139", 2), ("0.0262", 5), ("0.0272", 2))
SAMPLED_GAUSSIANS = (("0.7", "0.2"), ("0.8", "0.1"), ("0.6", "0.05"), ("1", "0.02"), ("0.9", "0.01"), ("1.1", "0.01"))
SAMPLED_LAPLACES = (("0.4", "0.5"), ("0.5", "0.1"), ("0.7", "0.1"), ("1", "0.05"), ("1", "0.02"), ("1.5", "0.01"))


def gaussian(noise: str) -> Event:
    return {"kind": "Gaussian", "noise_multiplier": noise}


def laplace(scale: str) -> Event:
    return {"kind": "Laplace", "scale": scale}


def response(epsilon: str, categories: int) -> Event:
    return {"kind": "RandomizedResponse", "epsilon": epsilon, "categories": categories}


def sample(event: Event, rate: str) -> Event:
    return {"kind": "PoissonSample", "event": event, "rate": rate}


def repeat(event: Event, times: int) -> Event:
    return event if times == 1 else {"kind": "Repeat", "event": event, "times": times}


def sequence(*events: Event) -> Event:
    return {"kind": "Sequence", "events": list(events)}


def mixtures() -> Iterator[tuple[str, Event]]:
    yield "gaussian 2, laplace 3", sequence(gaussian("2"), laplace("3"))
    yield (
        "gaussian 30 x100, laplace 20 x10",
        sequence(repeat(gaussian("30"), 100), repeat(laplace("20"), 10)),
    )
    yield (
        "gaussian 1 rate 0.01 x1000, laplace 30 x100",
        sequence(repeat(sample(gaussian("1"), "0.01"), 1_000), repeat(laplace("30"), 100)),
    )
    yield (
        "gaussian 0.8 rate 0.02 x100, laplace 1 rate 0.05 x10, gaussian 5",
        sequence(repeat(sample(gaussian("0.8"), "0.02"), 100), repeat(sample(laplace("1"), "0.05"), 10), gaussian("5")),
    )


def cases() -> Iterator[tuple[str, str, Event, tuple[str, ...]]]:
    """Family, text, event and deltas: two of the three by turns, and all of them for mixtures."""
    for at, times in enumerate(LENGTHS):
        deltas = tuple(delta for turn, delta in enumerate(DELTAS) if turn != at % 3)
        noise, rate = SAMPLED_GAUSSIANS[at]
        scale, often = SAMPLED_LAPLACES[at]
        size, categories = RESPONSES[at]
        for family, text, event in (
            ("gaussian", f"gaussian {GAUSSIANS[at]}", gaussian(GAUSSIANS[at])),
            ("laplace", f"laplace {LAPLACES[at]}", laplace(LAPLACES[at])),
            ("response", f"response {size} of {categories}", response(size, categories)),
            ("sampled gaussian", f"gaussian {noise} rate {rate}", sample(gaussian(noise), rate)),
            ("sampled laplace", f"laplace {scale} rate {often}", sample(laplace(scale), often)),
        ):
            yield family, f"{text} x{times}", repeat(event, times), deltas
    yield "response off the grid", "response 0.1 of 2 x100", repeat(response("0.1", 2), 100), DELTAS
    for text, event in mixtures():
        yield "mixture", text, event, DELTAS


def theirs(event: Event) -> Any:
    """The same event in their words."""
    import dp_accounting as peer  # type: ignore[import-not-found]  # another virtual environment has it

    match event:
        case {"kind": "Gaussian", "noise_multiplier": noise}:
            return peer.GaussianDpEvent(float(noise))
        case {"kind": "Laplace", "scale": scale}:
            return peer.LaplaceDpEvent(float(scale))
        case {"kind": "PoissonSample", "event": base, "rate": rate}:
            return peer.PoissonSampledDpEvent(float(rate), theirs(base))
        case {"kind": "Repeat", "event": part, "times": times}:
            return peer.SelfComposedDpEvent(theirs(part), times)
        case {"kind": "Sequence", "events": parts}:
            return peer.ComposedDpEvent([theirs(part) for part in parts])
    raise ValueError(f"a {event['kind']} has no name here; add a case.")


def distribution(event: Event, times: int) -> Any:
    """Their loss distribution of randomized response, composed with itself."""
    from dp_accounting.pld import privacy_loss_distribution as losses  # type: ignore[import-not-found]

    categories = event["categories"]
    noise = categories / (categories - 1 + exp(float(event["epsilon"])))
    return losses.from_randomized_response(noise, categories).self_compose(times)


def answers(family: str, event: Event, deltas: tuple[str, ...]) -> list[float]:
    if family.startswith("response"):
        composed = distribution(event.get("event", event), event.get("times", 1))
        return [composed.get_epsilon_for_delta(float(delta)) for delta in deltas]
    from dp_accounting.pld import PLDAccountant

    accountant = PLDAccountant().compose(theirs(event))
    return [accountant.get_epsilon(float(delta)) for delta in deltas]


def main() -> None:
    method = f"dp-accounting {version('dp-accounting')}"
    with FILE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        for family, text, event, deltas in cases():
            start = time.process_time()
            found = answers(family, event, deltas)
            encoded = json.dumps({"version": 1, "event": event}, sort_keys=True, separators=(",", ":"))
            shared = {"family": family, "text": text, "event": encoded, "method": method}
            for delta, epsilon in zip(deltas, found, strict=True):
                writer.writerow(shared | {"delta": delta, "epsilon": repr(float(epsilon))})
            print(f"{text:70} {time.process_time() - start:8.1f} s", flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
