"""Draws documents from schemas, and judges documents by schemas, with Python's libraries.

    python draw.py draw COUNT <schemas.jsonl >documents.jsonl    hypothesis-jsonschema
    python draw.py judge schemas.jsonl <documents.jsonl >judged.jsonl    jsonschema

A line of schemas is {"id", "draft", "schema"}; of documents {"id", "by", "text"}, to which judging adds "jsonschema": "" for
valid, what is wrong, or null where that can't be told. Each schema has a process of its own, which a time limit ends.
"""

import datetime
import functools
import json
import multiprocessing
import random
import re
import resource
import sys
import warnings

SECONDS = 20
MEMORY = 3 << 30
LONGEST = 4000  # of a document, characters

METASCHEMAS = {
    "draft-04": "http://json-schema.org/draft-04/schema#",
    "draft-06": "http://json-schema.org/draft-06/schema#",
    "draft-07": "http://json-schema.org/draft-07/schema#",
}


def draw(case, count):
    import hypothesis
    from hypothesis_jsonschema import from_schema

    warnings.simplefilter("ignore")
    schema = dict(case["schema"]) if isinstance(case["schema"], dict) else case["schema"]
    if isinstance(schema, dict):
        schema.pop("$schema", None)
        if case["draft"] in METASCHEMAS:
            schema["$schema"] = METASCHEMAS[case["draft"]]
    drawn = {}

    @hypothesis.settings(
        max_examples=4 * count, database=None, derandomize=True, deadline=None,
        phases=[hypothesis.Phase.generate], suppress_health_check=list(hypothesis.HealthCheck))
    @hypothesis.given(from_schema(schema))
    def collect(value):
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        if len(text) <= LONGEST:
            drawn[text] = len(text)

    try:
        collect()
    finally:
        # From the shortest to the longest, evenly: the first ones drawn are the simplest.
        texts = sorted(drawn, key=drawn.get)
        for text in texts[:: max(1, -(-len(texts) // count))]:
            yield {"id": case["id"], "by": "hypothesis-jsonschema", "text": text}
            edited = edit(random.Random(text), json.loads(text))
            yield {"id": case["id"], "by": "hypothesis-jsonschema, edited", "text": json.dumps(edited, ensure_ascii=False)}


def edit(r, value):
    """Changes a value in one place."""
    if isinstance(value, dict) and value and r.random() < 0.8:
        key = r.choice(sorted(value))
        kind = r.random()
        if kind < 0.2:
            return {k: v for k, v in value.items() if k != key}
        if kind < 0.3:
            return {k + "x" * (k == key): v for k, v in value.items()}
        return {k: edit(r, v) if k == key else v for k, v in value.items()}
    if isinstance(value, list) and value and r.random() < 0.8:
        i = r.randrange(len(value))
        if r.random() < 0.3:
            return value[:i] + value[i + 1 + r.randrange(2):] + value[i : i + 1]
        return value[:i] + [edit(r, value[i])] + value[i + 1 :]
    if isinstance(value, str) and r.random() < 0.6:
        i = r.randrange(len(value) + 1)
        return value[:i] + r.choice(["", "a", "0", "-", " ", "é"]) + value[i + r.randrange(2) :]
    if isinstance(value, (int, float)) and not isinstance(value, bool) and r.random() < 0.6:
        return value + r.choice([1, -1, 0.5, 1000])
    return r.choice([None, True, 0, 1.5, "", "a", [], {}])


class EcmaPatterns:
    r"""Stands in for the module re in jsonschema: \d, \w, \b, \s, the dot and the dollar sign mean what they do in ECMA-262."""

    SPACE = r"\s\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
    PIECES = re.compile(r"\\.|\[\^?|\]|\.|\$", re.DOTALL)

    @classmethod
    def search(cls, pattern, text):
        return re.search(cls.translated(pattern), text, re.ASCII)

    @classmethod
    @functools.lru_cache(1000)
    def translated(cls, pattern):
        inside = False

        def piece(match):
            nonlocal inside
            found = match.group()
            if found == r"\s":
                return cls.SPACE if inside else f"[{cls.SPACE}]"
            if found[0] == "\\":
                return f"[^{cls.SPACE}]" if found == r"\S" and not inside else found
            if inside:
                inside = found != "]"
                return "\\[" if found == "[" else found
            if found[0] == "[":
                inside = True
                return found
            return {".": r"[^\n\r\u2028\u2029]", "$": r"\Z"}.get(found, found)

        return cls.PIECES.sub(piece, pattern)


def judge(case, documents):
    import jsonschema
    from jsonschema import _keywords, _legacy_keywords, _utils

    _keywords.re = _legacy_keywords.re = _utils.re = EcmaPatterns
    validators = {
        "draft-04": jsonschema.Draft4Validator, "draft-06": jsonschema.Draft6Validator, "draft-07": jsonschema.Draft7Validator,
        "2019-09": jsonschema.Draft201909Validator, "2020-12": jsonschema.Draft202012Validator,
    }
    validator = validators[case["draft"]]
    why = None
    try:
        validator.check_schema(case["schema"])
        # Formats are asserted in every draft, not only in those that define them.
        validator = validator(case["schema"], format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER)
    except Exception as error:  # the schema breaks a rule of its metaschema
        why = error
    for document in documents:
        verdict = None
        if why is None:
            try:
                error = jsonschema.exceptions.best_match(validator.iter_errors(json.loads(document["text"])))
                verdict = "" if error is None else f"{error.validator} {json.dumps(error.validator_value)[:100]}: {error.message[:200]}"
            except Exception:  # a remote reference, a pattern that Python doesn't know
                verdict = None
        yield {**document, "jsonschema": verdict}


def alone(work, connection):
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    sys.setrecursionlimit(3000)
    try:
        for line in work:
            connection.send(json.dumps(line, ensure_ascii=False))
    except Exception as error:
        connection.send(None)
        print(f"{type(error).__name__}: {str(error)[:200]}", file=sys.stderr)
    connection.close()


def within(name, work):
    """Yields what work yields until its time is up."""
    ours, theirs = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=alone, args=(work, theirs))
    process.start()
    theirs.close()
    deadline = datetime.datetime.now() + datetime.timedelta(seconds=SECONDS)
    try:
        while True:
            left = (deadline - datetime.datetime.now()).total_seconds()
            if left <= 0 or not ours.poll(left):
                print(f"{name}: time is up", file=sys.stderr)
                return
            line = ours.recv()
            if line is None:
                print(f"{name}: given up", file=sys.stderr)
                return
            yield line
    except EOFError:
        return
    finally:
        process.kill()
        process.join()


def main():
    if sys.argv[1] == "draw":
        import hypothesis_jsonschema  # noqa: F401, once for all processes

        for line in sys.stdin:
            case = json.loads(line)
            for document in within(case["id"], draw(case, int(sys.argv[2]))):
                print(document, flush=True)
        return
    import jsonschema  # noqa: F401

    with open(sys.argv[2], encoding="utf-8") as file:
        cases = {case["id"]: case for case in map(json.loads, file)}
    documents = {}
    for line in sys.stdin:
        document = json.loads(line)
        documents.setdefault(document["id"], []).append(document)
    for name, list_ in documents.items():
        judged = 0
        for line in within(name, judge(cases[name], list_)):
            print(line, flush=True)
            judged += 1
        for document in list_[judged:]:
            print(json.dumps({**document, "jsonschema": None}, ensure_ascii=False))


main()
