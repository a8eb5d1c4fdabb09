"""Options become the events that they describe."""

from privately import accounting as acc
from privately.cli.account.mechanisms import MECHANISMS, NOISE, Mechanism, Use
from privately.guarantees import Neighbors

BY_COMMAND = {mechanism.command: mechanism for mechanism in MECHANISMS}


def use(command: str, parameters: dict[str, object], **settings: str) -> Use:
    mechanism = BY_COMMAND[command]
    absent = dict.fromkeys([*mechanism.required, *mechanism.optional])
    return Use(mechanism=mechanism, parameters={**absent, **parameters}, **settings)


def some(mechanism: Mechanism) -> dict[str, object]:
    return {name: "0.5" if name == "delta_each" else "2" for name in (*mechanism.required, *mechanism.optional)}


def test_every_command_makes_its_event() -> None:
    for mechanism in MECHANISMS:
        event = use(mechanism.command, some(mechanism)).event()
        assert type(event) is getattr(acc, mechanism.event)
        for name, value in some(mechanism).items():
            assert str(float(getattr(event, mechanism.field_of(name)))) == str(float(str(value)))


def test_every_kind_of_leaf_has_a_command_but_renyi() -> None:
    leaves = {kind for kind, (_, forms) in acc.encoding.KINDS.items() if "neighbors" in forms}
    assert {mechanism.event for mechanism in MECHANISMS} == leaves - {"Renyi"}


def test_sampling_and_repetition() -> None:
    gaussian = acc.Gaussian(noise_multiplier=1)
    sampled = use("gaussian", {"noise_multiplier": "1"}, rate="0.01", steps="1e4").event()
    assert sampled == acc.Repeat(event=acc.PoissonSample(event=gaussian, rate="0.01"), times=10_000)
    replaced = acc.Gaussian(noise_multiplier=1, neighbors=Neighbors.REPLACE)
    settings = {"sample_size": "10", "population": "1000", "neighbors": "replace"}
    fixed = use("gaussian", {"noise_multiplier": "1"}, **settings).event()
    assert fixed == acc.FixedSizeSample(event=replaced, size=10, population=1000)


def test_numbers_are_taken_exactly() -> None:
    assert use("pure", {"epsilon_each": "0.1"}).event() == acc.Pure(epsilon="0.1")
    assert use("pure", {"epsilon_each": "1/3"}).event() == acc.Pure(epsilon="1/3")


def test_options_can_be_changed() -> None:
    one = use("gaussian", {"noise_multiplier": None}, rate="0.5")
    assert one.given("noise_multiplier") is None
    assert one.put("noise_multiplier", 2.0).event() == use("gaussian", {"noise_multiplier": "2"}, rate="0.5").event()
    assert one.put("rate", "0.25").given("rate") == "0.25"
    assert one.put("steps", 3).given("steps") == 3


def test_of_noise_more_is_safer() -> None:
    sought = {mechanism.sought for mechanism in MECHANISMS}
    assert set(NOISE) < sought
    for mechanism in MECHANISMS:
        small, large = (
            acc.epsilon(use(mechanism.command, {**some(mechanism), mechanism.sought: value}).event(), "0.6").upper
            for value in ("2", "4")
        )
        assert (small >= large) if mechanism.sought in NOISE else (small <= large), mechanism.command
