"""Guidance: its OpenAI back end: text and JSON."""

from shared import ANN, OBEDIENT, RANDOM, Bounded, Person, document, run, says

import guidance
from guidance import assistant, gen, user
from guidance.models import OpenAI


def model(url=OBEDIENT):
    return OpenAI("tiny", base_url=url + "/v1", api_key="none", echo=False)


def test_text():
    """In ASCII: guidance puts the text together from the tokens of the logprobs, of which one may be half a letter."""
    lm = model()
    with user():
        lm += says("It rains.")
    with assistant():
        lm += gen("answer")
    assert lm["answer"] == "It rains.", lm["answer"]


def test_json():
    for url, ask, kind in ((OBEDIENT, says(document()), Person), (RANDOM, "A person.", Bounded)):
        lm = model(url)
        with user():
            lm += ask
        with assistant():
            lm += guidance.json(name="person", schema=kind)
        got = kind.model_validate_json(lm["person"])
        assert kind is Bounded or got == ANN, got


def test_regex():
    """Guidance says itself that it has no regular expressions for OpenAI's API."""
    lm = model()
    with user():
        lm += says("abc")
    try:
        with assistant():
            lm += gen("answer", regex="[a-z]+")
    except ValueError as error:
        assert "not yet supported for OpenAI" in str(error), error
    else:
        raise AssertionError("guidance has regular expressions for OpenAI now")


run(globals())
