"""What somebody who can write the file might do to it, as SQL; without computing the chain again."""

_LAST = "(SELECT max(number) FROM record)"
_LAST_CHARGE = "(SELECT max(number) FROM record WHERE key IS NOT NULL)"
_FIRST_CHARGE = "(SELECT min(number) FROM record WHERE key IS NOT NULL)"
_FIRST_ANSWER = "(SELECT min(number) FROM record WHERE charge IS NOT NULL)"
_K0, _K1, _LOST = ("'k0' || char(10) || 'ann'", "'k1' || char(10) || 'ann'", "'k2' || char(10) || 'ann'")


def _replaced(old: str, new: str) -> str:
    return f"UPDATE record SET text = CAST(replace(text, '{old}', '{new}') AS BLOB)"


def _copied_to(number: str) -> str:
    return f"INSERT INTO record SELECT {number}, hash, text, NULL, NULL, NULL, NULL FROM record WHERE number = 4"


_OTHER_TERMS = _replaced('"terms":', '"terms":1')

FORGERIES = {
    "a cheaper charge": f"{_replaced('1/10', '1/99')} WHERE key IS NOT NULL",
    "another last charge": f"{_replaced('body', 'bodY')} WHERE number = {_LAST_CHARGE}",
    "a last charge on other terms": f"{_OTHER_TERMS} WHERE number = {_LAST_CHARGE}",
    "a larger cap": _replaced('"5"', '"9"'),
    "an edited hash": "UPDATE record SET hash = zeroblob(32) WHERE number = 7",
    "an edited last hash": f"UPDATE record SET hash = zeroblob(32) WHERE number = {_LAST}",
    "a removed record": "DELETE FROM record WHERE number = 6",
    "a removed first record": "DELETE FROM record WHERE number = 1",
    "a removed charge": "DELETE FROM record WHERE number = (SELECT min(number) FROM record WHERE key IS NOT NULL)",
    "a removed checkpoint": "DELETE FROM record WHERE checkpoint IS NOT NULL",
    "all removed": "DELETE FROM record",
    "two exchanged": "UPDATE record SET number = CASE number WHEN 6 THEN -7 WHEN 7 THEN -6 ELSE number END;"
    "UPDATE record SET number = -number WHERE number < 0",
    "one repeated at the end": _copied_to(f"1 + {_LAST}"),
    "one inserted far away": _copied_to("1000"),
    "one inserted before": _copied_to("0"),
    "another key": f"UPDATE record SET key = 'k1' || char(10) || 'bob' WHERE key = {_K1}",
    "exchanged keys": f"UPDATE record SET key = CASE key WHEN {_K0} THEN {_K1} ELSE {_K0} END"
    f" WHERE key IN ({_K0}, {_K1})",
    "a forgotten key": "UPDATE record SET key = NULL WHERE number = 5",
    "a forgotten question": "UPDATE record SET question = NULL",
    "one question for all": "UPDATE record SET question = (SELECT max(question) FROM record) WHERE charge IS NOT NULL",
    "a forgotten answer": "UPDATE record SET charge = NULL WHERE charge IS NOT NULL",
    "an answer to another charge": "UPDATE record SET charge = 3 WHERE charge = (SELECT max(charge) FROM record)",
    "an answer moved to what was lost": f"UPDATE record SET charge = (SELECT number FROM record WHERE key = {_LOST})"
    " WHERE charge = (SELECT min(charge) FROM record)",
    "exchanged answers": "UPDATE answer SET bytes ="
    " (SELECT bytes FROM answer AS other WHERE other.number != answer.number LIMIT 1)",
    "an edited answer": "UPDATE answer SET bytes = x'00'",
    "a removed answer": "DELETE FROM answer WHERE number = (SELECT max(number) FROM answer)",
    "an added answer": "INSERT INTO answer VALUES (3, x'00')",
    "an edited checkpoint": f"{_replaced('1/10', '1/99')} WHERE checkpoint IS NOT NULL",
    "a charge that is a checkpoint": f"UPDATE record SET checkpoint = 1 WHERE number = {_FIRST_CHARGE}",
    "a charge with a question": f"UPDATE record SET question = 'q' WHERE number = {_FIRST_CHARGE}",
    "a charge that is an answer": f"UPDATE record SET charge = 1 WHERE number = {_FIRST_CHARGE}",
    "an answer that is a checkpoint": f"UPDATE record SET checkpoint = 1 WHERE number = {_FIRST_ANSWER}",
    "an answer with a key": f"UPDATE record SET key = 'k' WHERE number = {_FIRST_ANSWER}",
    "a checkpoint that is none": "UPDATE record SET checkpoint = 1",
    "other types": "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, ' STRICT', '')",
    "another program": "PRAGMA application_id = 7",
    "another version": "PRAGMA user_version = 7",
    "no answers": "DROP TABLE answer",
    "no records": "DROP TABLE record",
}
HARMLESS = {"other types", "an added answer"}
"""These change nothing that is ever shown: bytes that no record speaks of are never given to anybody."""
