"""Programs: seconds of CPU for each, start and imports aside; a sum of 5,000 randomized responses; the corpus; programs
that take all the work there is; and what black-box testers published, beside our certified bounds.

python benchmarks/proving.py [seeds] [sum] [corpus] [bombs] [published]
"""

import json
import sys
import time
from fractions import Fraction
from math import comb
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from privately import proving as p  # noqa: E402
from tests.proving.corpus import cases  # noqa: E402
from tests.proving.published import PUBLISHED  # noqa: E402

SEEDS = ROOT / "tests" / "corpus" / "seeds"
FINITE: list[tuple[str, str, dict[str, Any]]] = [
    ("000-one-time-pad", "0", {"neighbors": {"m": p.anything(p.bits(4))}, "public": {"n": 4}}),
    ("000-mean", "1", {"neighbors": {"d": p.replaced(0, 1)}, "sizes": [1, 2, 3]}),
    ("002-randomized-response", "ln(3)", {"neighbors": {"F(x)": p.replaced(0, 1)}}),
    (
        "002-randomized-response-p",
        "ln((2-p)/(1-p))",
        {"neighbors": {"Mem": p.replaced(0, 1)}, "sizes": [1], "public": {"p": p.inside(0, "1/2")}},
    ),
]
MANY = """
def total(x: replaced(0, 1)):
    s = 0
    for v in x:
        if flip(1/2):
            s += v
        else:
            s += flip(1/2)
    return s
"""

BOMBS: dict[str, tuple[str, dict[str, Any]]] = {
    "a number that is halved": ("    y = 1\n    while y > 0:\n        y = y / 2\n    return y\n", {}),
    "a walk with noisy steps": ("    y = 0\n    while y >= 0:\n        y += discrete_laplace(1)\n    return y\n", {}),
    "twelve noises of many sizes": (
        "    a = 0\n    for i in range(12):\n        a = a*3 + discrete_laplace(1)\n    return a > x\n",
        {},
    ),
    "fractions": ("    s = x\n    for i in range(1, 40):\n        s += flip(1/3) / (i*i + 1)\n    return s\n", {}),
    "many powers of e": ("    s = 0\n    for i in range(400):\n        s += flip_exp((i+1+x) / 7)\n    return s\n", {}),
    "two uniform draws": ("    return [uniform(1000), uniform(100000)]\n", {}),
    "twenty-five coins": ("    a = []\n    for i in range(25):\n        a.append(flip(1/2))\n    return a\n", {}),
    "a list of twelve responses": (
        "    a = []\n    for v in x:\n        a.append(v if flip(2/3) else 1 - v)\n    return a\n",
        {"neighbors": {"x": p.replaced(p.bits(12))}},
    ),
    "a conditional sum of 600": (
        "    s = 0\n    for i in range(600):\n        s += x if flip(1/3) else flip(1/2)\n    return s\n",
        {},
    ),
}


def seeds() -> dict[str, float]:
    """Seconds for every finite program of the lecture texts; target 0.5."""
    found = {}
    for name, claim, known in FINITE:
        start = time.process_time()
        verdict = p.prove(SEEDS / f"{name}.txt", claim, **known)
        found[name] = time.process_time() - start
        print(f"{name:30} {verdict.word:8} {found[name]:.3f} s")
    return found


def responses(people: int = 5000) -> dict[str, float]:
    """Seconds for the tight curve of a sum of responses; target 5. The law is compared with the binomial one."""
    others = [0] * (people - 1)
    start = time.process_time()
    found = p.analyze(MANY, between=({"x": [0, *others]}, {"x": [1, *others]}))
    deltas = {epsilon: found.delta(epsilon) for epsilon in ("1/100", "1/10")}
    least = found.epsilon_at("1e-6")
    seconds = time.process_time() - start
    law = found.law(x=[0, *others])
    if any(law[k] != Fraction(comb(people, k) * 3 ** (people - k), 4**people) for k in range(0, people + 1, 50)):
        sys.exit("this is not the binomial law")
    shown = ", ".join(f"{epsilon}: {float(delta.upper):.6g}" for epsilon, delta in deltas.items())
    print(f"{people} responses: {seconds:.2f} s; delta at epsilon {shown}; epsilon at 1e-6: {least}")
    return {"seconds": seconds}


def corpus() -> dict[str, float]:
    """Seconds for every program of the corpus; target 10 for each wrong one. Wrong verdicts end the run."""
    found = {}
    for case in cases():
        start = time.process_time()
        verdict = p.prove(case.text, case.head["claim"], **case.known)
        found[case.name] = time.process_time() - start
        bound = verdict.witness.epsilon.lower if isinstance(verdict, p.Refuted) else getattr(verdict, "lower", None)
        shown = bound if bound is None else bound.lower if hasattr(bound, "lower") else bound
        told = "" if shown is None else f"epsilon >= {float(shown):.6g}"
        print(
            f"{case.name:32} {verdict.word:8} {found[case.name]:6.2f} s  {told} (claim {case.head['claim']})",
            flush=True,
        )
        if verdict.word == ("refuted" if case.private else "proved"):
            sys.exit("a wrong verdict")
    return found


def bombs() -> dict[str, float]:
    """Seconds for programs that take all the work there is; target 10 for each, whatever the answer."""
    found = {}
    for name, (body, known) in BOMBS.items():
        start = time.process_time()
        verdict = p.prove(f"def f(x: replaced(0, 1)):\n{body}", 1, **known)
        found[name] = time.process_time() - start
        print(f"{name:32} {verdict.word:8} {found[name]:6.2f} s", flush=True)
    return found


def published() -> dict[str, float]:
    """Certified lower bounds beside those of DP-Sniper and StatDP; one below theirs ends the run."""
    found = {}
    for one in PUBLISHED:
        start = time.process_time()
        verdict = p.prove(one.text, str(one.bound), **one.known)
        seconds = time.process_time() - start
        bound = verdict.witness.epsilon if isinstance(verdict, p.Refuted) else getattr(verdict, "lower", None)
        found[one.name] = float(bound.lower) if bound is not None else 0.0
        truth = "" if one.tight is None else f", truth {one.tight}"
        print(f"{one.name:20} {seconds:5.2f} s  ours >= {found[one.name]:.4f}, theirs {one.bound}{truth}", flush=True)
        if round(found[one.name], 4) < one.bound:
            sys.exit("theirs is larger")
    return found


PARTS = {"seeds": seeds, "sum": responses, "corpus": corpus, "bombs": bombs, "published": published}

if __name__ == "__main__":
    asked = sys.argv[1:] or list(PARTS)
    results = {name: PARTS[name]() for name in asked}
    print(json.dumps(results))
