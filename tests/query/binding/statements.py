"""Statements drawn from what is understood: all of them are good questions about `visits`."""

from hypothesis import strategies as st

Texts = st.SearchStrategy[str]


def _call(template: str, *parts: Texts) -> Texts:
    return st.tuples(*parts).map(lambda drawn: template.format(*drawn))


def _cases(values: Texts, truths: Texts, *, simple: Texts) -> Texts:
    return st.one_of(
        _call("CASE WHEN {} THEN {} ELSE {} END", truths, values, values),
        _call("CASE WHEN {} THEN {} END", truths, values),
        _call("CASE {} WHEN {} THEN {} ELSE NULL END", simple, simple, values),
        _call("COALESCE({}, {})", values, values),
        _call("NULLIF({}, {})", values, values),
        _call("IF({}, {}, {})", truths, values, values),
        _call("({})", values),
    )


DATES = st.sampled_from(["day", "DATE '2024-02-29'", "CAST(seen AS DATE)", "TRY_CAST(city AS DATE)"])
TIMES = st.sampled_from(["seen", "TIMESTAMP '2024-02-29 12:30:00'", "CAST(day AS TIMESTAMP)", "day"])
PARTS = st.sampled_from(["YEAR", "QUARTER", "MONTH", "DAY", "DOW", "DOY", "HOUR", "MINUTE"])
PATTERNS = st.sampled_from(["'a%'", "'_b%'", "'100\\%'", "''", "'%'"])


def wholes(depth: int) -> Texts:
    """Whole numbers with bounds; products stay small."""
    leaves = st.sampled_from(["age", "size", "0", "1", "7", "-3", "v.age"])
    if depth == 0:
        return leaves
    inner, text, truth = wholes(depth - 1), texts(depth - 1), truths(depth - 1)
    return st.one_of(
        leaves,
        _call("({} {} {})", inner, st.sampled_from(["+", "-", "%"]), inner),
        _call("({} * {})", inner, leaves),
        _call("(- {})", leaves),
        _call("ABS({})", inner),
        _call(
            "{}({})", st.sampled_from(["FLOOR", "CEIL", "ROUND"]), st.sampled_from(["cost", "score * 3", "cost / 7"])
        ),
        _call("LENGTH({})", text),
        _call("EXTRACT({} FROM {})", PARTS, TIMES),
        _call("DATE_DIFF('day', {}, {})", DATES, DATES),
        _call("CAST({} AS INTEGER)", truth),
        _call("{}({}, {})", st.sampled_from(["GREATEST", "LEAST"]), inner, inner),
        _call("LEAST(GREATEST(patient_id, {}), 90)", st.sampled_from(["0", "-1", "5"])),
        _cases(inner, truth, simple=inner),
    )


def reals(depth: int) -> Texts:
    leaves = st.sampled_from(["cost", "score", "free", "0.5", "1e3", "age", "v.cost"])
    if depth == 0:
        return leaves
    inner = reals(depth - 1)
    return st.one_of(
        leaves,
        _call("({} / {})", inner, inner),
        _call("(score {} {})", st.sampled_from(["+", "-", "*"]), inner),
        _call("{}({})", st.sampled_from(["SQRT", "LN", "EXP"]), inner),
        _call("ROUND(cost, {})", st.sampled_from(["0", "1", "2"])),
        _call("TRY_CAST({} AS DOUBLE)", texts(depth - 1)),
        _call("LEAST(GREATEST({}, -1), 10.5)", inner),
    )


def texts(depth: int) -> Texts:
    leaves = st.sampled_from(["city", "ward", "'a'", "'it''s'", "''", "v.city"])
    if depth == 0:
        return leaves
    inner = texts(depth - 1)
    return st.one_of(
        leaves,
        _call("{}({})", st.sampled_from(["LOWER", "UPPER", "TRIM"]), inner),
        _call("SUBSTRING({}, {}, {})", inner, st.sampled_from(["1", "2"]), st.sampled_from(["0", "3"])),
        _call("LEFT({}, 2)", inner),
        _call("({} || {})", inner, inner),
        _call("CONCAT({}, {})", inner, inner),
        _call("CAST({} AS VARCHAR)", wholes(depth - 1)),
        _cases(inner, truths(depth - 1), simple=inner),
    )


def truths(depth: int) -> Texts:
    leaves = st.sampled_from(["urgent", "TRUE", "age > 3", "v.urgent"])
    if depth == 0:
        return leaves
    inner, whole, real, text = truths(depth - 1), wholes(depth - 1), reals(depth - 1), texts(depth - 1)
    signs = st.sampled_from(["=", "<>", "<", "<=", ">", ">=", "!="])
    return st.one_of(
        leaves,
        _call("{} {} {}", whole, signs, whole),
        _call("{} {} {}", real, signs, whole),
        _call("{} {} {}", text, signs, text),
        _call("{} {} {}", DATES, signs, TIMES),
        _call("day {} '2024-01-31'", signs),
        _call("({} AND {} AND {})", inner, inner, inner),
        _call("({} OR {})", inner, inner),
        _call("NOT ({})", inner),
        _call("({}) IS {}", inner, st.sampled_from(["NULL", "NOT NULL", "TRUE", "NOT FALSE"])),
        _call("{} {} ({}, 2, 3)", whole, st.sampled_from(["IN", "NOT IN"]), st.sampled_from(["1", "size", "-1"])),
        _call("{} IN ('a', 'b')", text),
        _call("{} {} {} AND {}", whole, st.sampled_from(["BETWEEN", "NOT BETWEEN"]), whole, whole),
        _call("{} {} {}", text, st.sampled_from(["LIKE", "NOT LIKE", "ILIKE", "NOT ILIKE"]), PATTERNS),
        _call("{}({}, 'a')", st.sampled_from(["STARTS_WITH", "ENDS_WITH", "CONTAINS", "PREFIX", "SUFFIX"]), text),
    )


def conditions() -> Texts:
    """Conditions about `visits`, which is not called v here."""
    return truths(3).map(lambda text: text.replace("v.", "visits."))


BOUNDED = st.one_of(
    wholes(0),
    _call("LEAST(GREATEST({}, -50), 3000)", wholes(2)),
    st.sampled_from(["cost", "score", "cost * 2", "score - cost", "LEAST(GREATEST(free, 0), 9.5)", "urgent"]),
    st.sampled_from(["SQRT(cost)", "LN(cost + 1)", "EXP(score)", "age % 7 - size", "LENGTH(city)", "HOUR(seen)"]),
)
COUNTED = st.one_of(wholes(2), reals(2), texts(2), truths(1), DATES)


def aggregates() -> Texts:
    """Aggregates of rows of v."""
    plain = st.one_of(
        st.just("COUNT(*)"),
        _call("COUNT({})", COUNTED),
        _call("COUNT_IF({})", truths(1)),
        _call("{}({})", st.sampled_from(["SUM", "AVG", "MEAN", "MEDIAN", "VARIANCE", "VAR_POP", "STDDEV"]), BOUNDED),
        _call("QUANTILE_CONT({}, {})", BOUNDED, st.sampled_from(["0.1", "0.5", "1"])),
        _call("PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY {}{})", BOUNDED, st.sampled_from(["", " DESC"])),
    )
    return st.one_of(st.just("COUNT(DISTINCT v.patient_id)"), plain, _call("{} FILTER (WHERE {})", plain, truths(1)))


def answers() -> Texts:
    """What can be made of aggregates."""
    one = aggregates()
    return st.one_of(
        one,
        _call("({} {} {})", one, st.sampled_from(["+", "-", "*", "/"]), one),
        _call("ROUND({}, 1)", one),
        _call("-{}", one),
        _call("COALESCE({}, 0)", one),
        _call("CASE WHEN {} > 10 THEN {} END", one, one),
        _call("LEAST(GREATEST({}, 0), 100)", one),
    )


KEYS = st.one_of(wholes(2), texts(2), truths(2), DATES).filter(lambda text: any(one.isalpha() for one in text))
SOURCES = st.sampled_from(
    ["visits v", "(SELECT * FROM visits) v", "(SELECT * FROM visits WHERE age > 3) AS v", "(FROM visits) v"]
)


ANSWERS, AGGREGATES, TRUTHS = answers(), aggregates(), truths(2)


@st.composite
def questions(draw: st.DrawFn) -> str:
    """A whole SELECT."""
    listed = draw(st.lists(ANSWERS, min_size=1, max_size=4))
    keys = draw(
        st.lists(st.sampled_from(["ward", "city", "age", "urgent", "day", "MONTH(day)", "LOWER(city)"]), max_size=2)
    )
    shown = [f"{one} AS k{at}" for at, one in enumerate(keys)] + [f"{one} AS n{at}" for at, one in enumerate(listed)]
    text = f"SELECT {', '.join(shown)} FROM {draw(SOURCES)}"
    text += draw(st.sampled_from(["", f" WHERE {draw(TRUTHS)}"]))
    text += (
        f" GROUP BY {', '.join(draw(st.sampled_from([one, f'k{at}', str(at + 1)])) for at, one in enumerate(keys))}"
        if keys
        else ""
    )
    text += draw(st.sampled_from(["", f" HAVING {draw(AGGREGATES)} > 5", " HAVING n0 IS NOT NULL"]))
    text += draw(st.sampled_from(["", " ORDER BY n0 DESC", " ORDER BY 1", f" ORDER BY {draw(ANSWERS)} NULLS LAST"]))
    return text + draw(st.sampled_from(["", " LIMIT 5"]))
