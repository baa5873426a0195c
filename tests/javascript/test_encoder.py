"""The JavaScript encoder equals ours: it needs no network, and so no more than Node."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from crib_agents.bot import encode
from crib_agents.bundle import SPEC
from crib_agents.serve.messages import Code, ViewMessage, WireError, read_as
from crib_agents.serve.position import read_question
from crib_env import CribbageError, Rules, pegging_score, show_score
from crib_env.cards import CARDS
from crib_env.rules import SIX_CARD
from tests.javascript.support import (
    JAVASCRIPT,
    Message,
    edited,
    many_questions,
    needs_node,
    node,
    spoiled,
)

pytestmark = needs_node


def test_the_encoder_passes_the_vectors(folder: Path) -> None:
    outcome = node(JAVASCRIPT / "verify.js", folder, "--encoder")
    assert (outcome.stdout, outcome.stderr) == ("200 of 200 vectors\n", "")
    assert outcome.returncode == 0


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda case: case["observation"].__setitem__(353, 0.00001), r"points\[0\] is \S+, not"),
        (lambda case: case["observation"].pop(), "the observation has 425 numbers, not 424"),
        (lambda case: case["action_mask"].__setitem__(0, 5), r"the mask of AC is \d, not 5"),
        (lambda case: case["view"]["hand"].pop(), "6 cards are dealt, but the view has 5"),
        (lambda case: case["view"]["hand"].__setitem__(0, "1C"), '"1C" is not a card'),
    ],
)
def test_a_wrong_vector_is_named(
    greedy: Path, tmp_path: Path, change: Callable[[Message], Any], says: str
) -> None:
    folder = spoiled(greedy, tmp_path / "spoiled", change)
    outcome = node(JAVASCRIPT / "verify.js", folder, "--encoder")
    assert outcome.returncode == 1
    assert re.fullmatch(rf"{folder}: (vectors.jsonl, line 1: )?.*{says}.*\n", outcome.stderr)


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (lambda spec: "{", "spec.json is damaged"),
        (lambda spec: "null", "not cribbage-bundle 1"),
        (lambda spec: edited(spec, rules=None), "spec.json is damaged"),
        (lambda spec: edited(spec, version=2), "cribbage-bundle 2, not cribbage-bundle 1"),
        (lambda spec: edited(spec, rules={**spec["rules"], "players": 3}), "plays another game"),
        (lambda spec: edited(spec, cards=spec["cards"][::-1]), "cards are in another order"),
        (
            lambda spec: edited(spec, observation=[{**spec["observation"][3], "length": 7}]),
            "reads other observations: piece laid",
        ),
    ],
)
def test_a_bundle_that_does_not_fit_is_refused_in_one_line(
    greedy: Path, tmp_path: Path, edit: Callable[[Message], str], says: str
) -> None:
    spec = json.loads((greedy / SPEC).read_text())
    (tmp_path / SPEC).write_text(edit(spec))
    for script in ("verify.js", "encode.js"):
        outcome = node(JAVASCRIPT / script, tmp_path, *["--encoder"] * (script == "verify.js"))
        assert (outcome.returncode, outcome.stdout) == (1, "")
        assert re.fullmatch(rf"{tmp_path}: .*{says}.*\n", outcome.stderr), outcome.stderr


def test_what_is_no_bundle(tmp_path: Path) -> None:
    outcome = node(JAVASCRIPT / "verify.js", tmp_path / "nothing", "--encoder")
    assert outcome.returncode == 1
    assert outcome.stderr == f"{tmp_path / 'nothing'}: this is no bundle: it lacks spec.json\n"
    assert node(JAVASCRIPT / "verify.js").returncode == 2


def test_scoring_equals_ours(tmp_path: Path) -> None:
    chance = random.Random(5)
    shows: list[tuple[list[int], bool, Literal["five", "four"]]] = []
    for number in range(2000):
        cards = chance.sample(range(52), 5)
        if number % 4 == 0:  # flushes are rare
            cards[:4] = [4 * rank + number % 3 for rank in chance.sample(range(13), 4)]
            cards[4] = chance.choice([card for card in range(52) if card not in cards[:4]])
        shows.append((cards, number % 3 == 0, "four" if number % 5 == 0 else "five"))
    series: list[list[int]] = []
    while len(series) < 2000:
        cards = chance.sample(range(20) if len(series) % 2 else range(52), chance.randint(1, 8))
        if sum(CARDS[card].pip for card in cards) <= 31:
            series.append(cards)
    script = tmp_path / "score.mjs"
    script.write_text(f"""
        import {{ readFileSync }} from "node:fs";
        import {{ playPoints, showPoints }} from {json.dumps((JAVASCRIPT / "scoring.js").as_uri())};
        const {{ shows, series }} = JSON.parse(readFileSync(0, "utf8"));
        console.log(JSON.stringify([
          shows.map(([cards, isCrib, cribFlush]) =>
            showPoints(cards.slice(0, 4), cards[4], {{ isCrib, cribFlush }})),
          series.map(playPoints),
        ]));
    """)
    outcome = node(script, lines=json.dumps({"shows": shows, "series": series}))
    assert outcome.returncode == 0, outcome.stderr
    shown, pegged = json.loads(outcome.stdout)
    for (cards, is_crib, flush), points in zip(shows, shown, strict=True):
        rules = Rules(crib_flush=flush)
        assert points == show_score(cards[:4], cards[4], is_crib, rules).total
    for cards, points in zip(series, pegged, strict=True):
        assert points == pegging_score(cards).total


def ours(message: Message) -> Message:
    """What `encode.js` should answer."""
    try:
        read = read_as(ViewMessage, json.dumps(message).encode(), Code.INVALID_VIEW)
        question = read_question(read, SIX_CARD)
        observation, mask = encode(question.view)
    except WireError as error:
        return {"error": error.code}
    except CribbageError:
        return {"error": Code.INVALID_VIEW}
    return {
        "asks": question.asks,
        "assumed": list(question.assumed),
        "observation": observation.tolist(),
        "action_mask": mask.tolist(),
    }


def compare_questions(folder: Path, questions: list[Message]) -> dict[str, int]:
    """Ask both, demand the same, and count what was asked."""
    lines = "".join(json.dumps(message) + "\n" for message in questions)
    outcome = node(JAVASCRIPT / "encode.js", folder, lines=lines)
    assert outcome.returncode == 0, outcome.stderr
    counts: dict[str, int] = {}
    for message, line in zip(questions, outcome.stdout.splitlines(), strict=True):
        theirs = json.loads(line)
        wanted = ours(message)
        if "error" in theirs:
            theirs = {"error": theirs["error"]["code"]}
        elif "observation" in wanted:
            numbers = np.array([theirs.pop("observation"), wanted.pop("observation")])
            assert np.abs(numbers[0] - numbers[1]).max() <= 1e-6, message
        assert theirs == wanted, message
        kind = wanted.get("error") or wanted["asks"]
        counts[kind] = counts.get(kind, 0) + 1
    return counts


def test_some_questions_are_read_as_ours(greedy: Path) -> None:
    counts = compare_questions(greedy, many_questions(1, seed=3))
    assert counts["play"] > 20
    assert counts["discard"] > 20


@pytest.mark.slow
def test_many_questions_are_read_as_ours(greedy: Path) -> None:
    counts = compare_questions(greedy, many_questions(20, seed=100))
    assert counts["discard"] > 500
    assert counts["play"] > 1000
    assert counts["go"] > 20
    assert counts["not-your-turn"] > 500
    assert counts["invalid-view"] > 500
    assert counts["invalid-card"] > 50
