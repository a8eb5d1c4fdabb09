"""What a valid certificate says, and what it leaves to trust."""

from typing import NamedTuple

from .statements import Statement

_ALWAYS = (
    "that the released value came from the mechanism that this derivation describes",
    "that the neighbours named are those that matter for the data",
    "the theorems behind the rules used, this checker, and the Python that runs it",
)
_BY_VALUE = "that the parts were made by a function of each row's own value"
_CLAIMED = "that what is claimed and not derived is true"
_NOISE = "that the noise named was added to each of a fixed number of integers, which were counted as is said"
_ROW_BY_ROW = "that filters and new values look at one row at a time, as is said"
_WITHIN_BOUNDS = "that every value was brought within the bounds named before it was added up"
_SCORES = "that candidates and weights are fixed, that scores change by no more than is said, and are integers if noisy"
_QUERIES = (
    "that queries and thresholds are integers and move as is said, that every test has noise of its own, and that no "
    "test is made whose yes could no longer be paid"
)
_BY_RULE = {
    "scan_rows": "that of a unit no more counts than is said, in rows and in groups, chosen by its own rows alone",
    "filter_rows": _ROW_BY_ROW,
    "project_rows": _ROW_BY_ROW,
    "group_rows": "that each group listed was answered for once, and no others; or those that were public by then",
    "sum_steps": _WITHIN_BOUNDS,
    "sum_pairs": _WITHIN_BOUNDS,
    "score_quantile": "that each group chose its bin by itself, by how far its rank misses the quantile",
    "assumption": "the assumptions listed: nothing about them is proved",
    "finite_program": "that the program in the certificate is what ran, on the inputs that are listed there",
    "finite_table": "that each table is the law of the program that ran, on every input that it can get",
    "discrete_laplace": _NOISE,
    "rounded_gaussian": _NOISE,
    "discrete_gaussian": _NOISE,
    "exponential_mechanism": "that candidates and weights are fixed, and that their scores are what is said",
    "permute_and_flip": _SCORES,
    "noisy_max": _SCORES,
    "sparse_vector": _QUERIES,
    "adaptive_sparse_vector": _QUERIES,
    "thresholded_histogram": "that each row (or unit) counts once in a key, in no more keys than is said, by itself",
    "accounted": "that what ran is what the event says: its noise, sensitivities, samples and runs, fixed before",
    "randomized_response": "that each row was answered alone, and that a lie is each other category alike",
    "postprocessing": "that each post-processing step reads nothing but the output of its premise",
    "bounded_unit": "that no unit has more rows than the certificate says",
    "parallel_by_position": "that the parts were made by position, without looking at values",
    "parallel_by_value": _BY_VALUE,
    "parallel_by_value_replace": _BY_VALUE,
    "poisson_sampling": "that each row (or each whole unit) was sampled independently at the rate named, in secret",
    "sampling_without_replacement": "that the rows (or whole units) were drawn uniformly, in random order, in secret",
}


class Report(NamedTuple):
    """The result of checking a valid certificate. All texts are ASCII without control characters."""

    claim: Statement
    assumptions: tuple[str, ...]
    node_count: int
    rules: tuple[str, ...]
    hash: str
    subject: str | None
    plan: tuple[str, ...] = ()
    """The steps from a table to the numbers that got noise, where the derivation has them."""
    claimed: tuple[str, ...] = ()
    """Sensitivities and the like that a mechanism was given without a derivation from a table."""
    programs: tuple[str, ...] = ()
    """The programs that were followed, line by line, each with its hash."""

    @property
    def claim_text(self) -> str:
        """Such as "(0.5, 1e-6)-DP, adding or removing one row"."""
        return self.claim.text()

    @property
    def trusted(self) -> tuple[str, ...]:
        """What is trusted, not proved."""
        special = dict.fromkeys(_BY_RULE[rule] for rule in self.rules if rule in _BY_RULE)
        return (*special, *([_CLAIMED] if self.claimed else []), *_ALWAYS)

    def text(self) -> str:
        """For people."""
        lines = [
            f"valid: {self.claim_text}",
            f"steps: {self.node_count}",
            f"rules: {', '.join(self.rules)}",
            "assumptions: " + ("" if self.assumptions else "none"),
        ]
        lines += [f"  - {assumption}" for assumption in self.assumptions]
        if self.plan:
            lines += ["from the table:", *(f"  {step}" for step in self.plan)]
        if self.programs:
            lines += ["of the programs:", *(f"  {line}" for line in self.programs)]
        if self.claimed:
            lines += ["claimed, not derived:", *(f"  - {claim}" for claim in self.claimed)]
        lines.append("trusted, not proved:")
        lines += [f"  - {sentence}" for sentence in self.trusted]
        lines.append(f"release: {self.subject or 'none named'}")
        lines.append(f"hash: {self.hash}")
        return "\n".join(lines)

    def plain(self) -> dict[str, object]:
        """For programs, ready for JSON."""
        return {
            "valid": True,
            "claim": self.claim.plain(),
            "claim_text": self.claim_text,
            "steps": self.node_count,
            "rules": list(self.rules),
            "assumptions": list(self.assumptions),
            "plan": list(self.plan),
            "claimed": list(self.claimed),
            "programs": list(self.programs),
            "trusted": list(self.trusted),
            "subject": self.subject,
            "hash": self.hash,
        }
