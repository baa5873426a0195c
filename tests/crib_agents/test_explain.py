"""Ranked choices with their values: the generic explanation, and a bot's own."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from crib_agents.explanation import Explanation, Option
from crib_agents.hidden import barred_cards
from crib_agents.serve.explain import USUAL, explain
from crib_agents.serve.pegging import NO_CARD, pegging
from crib_agents.serve.protocol import Session
from crib_env import Card, Game, SeatView, show_score
from crib_env.cards import CARDS, parse_cards, to_mask
from crib_env.win_probability import win_probability
from tests.crib_agents.wire import LowestCard, act

BOT = LowestCard()
THROW: dict[str, Any] = {"seat": 0, "dealer": 0, "hand": ["5H", "JC", "2S", "9D", "KH", "AS"]}


def view_of(**fields: Any) -> SeatView:
    return SeatView.from_json(fields)


def test_every_legal_choice_is_ranked_with_its_value() -> None:
    session = Session("medium")
    for seed in range(4):
        game = Game(seed=seed)
        while not game.is_over:
            view = game.view(game.to_act)
            answer = act(session, view.to_json(), explain=True)
            options = answer["options"]
            values = [option["value"] for option in options]
            assert values == sorted(values, reverse=True)
            assert answer["value"] == values[0]
            assert all(0 <= value <= 1 for value in values)
            number = 1 if view.phase == "play" else view.rules.thrown - len(view.discards)
            legal = {frozenset(map(str, c)) for c in combinations(game.legal_actions(), number)}
            assert {frozenset(option["cards"]) for option in options} == legal
            assert len(options) == len(legal)
            chosen = answer["discard"] if "discard" in answer else [answer["play"]]
            assert [o["cards"] for o in options if o.get("chosen")] == [chosen]
            game.apply(game.legal_actions()[seed % len(game.legal_actions())])


def test_points_of_a_discard() -> None:
    """The show of a keep, worked out anew over all 46 starters; the parts explain the ranking."""
    view = view_of(**THROW)
    options = explain(BOT, view).options
    assert len(options) == 15
    for option in options[::5]:
        keep = [card for card in view.hand if card not in option.cards]
        rest = [card for card in CARDS if card not in view.hand]
        mean = np.mean([show_score(keep, starter).total for starter in rest])
        assert option.hand == pytest.approx(mean)
    totals = [option.hand + option.crib + option.play for option in options]  # type: ignore[operator]
    assert totals == sorted(totals, reverse=True)
    by_cards = {option.cards: option for option in options}
    fives = by_cards[parse_cards("5H JC")]
    other = by_cards[parse_cards("9D KH")]
    assert fives.crib > other.crib > 0  # type: ignore[operator]
    theirs = {o.cards: o for o in explain(BOT, view_of(**{**THROW, "dealer": 1})).options}
    assert all(option.crib < 0 for option in theirs.values())  # type: ignore[operator]
    assert theirs[fives.cards].crib < theirs[other.cards].crib  # type: ignore[operator]
    assert all(theirs[cards].hand == option.hand for cards, option in by_cards.items())


def test_one_card_left_to_throw() -> None:
    pairs = {frozenset(o.cards): o for o in explain(BOT, view_of(**THROW)).options}
    rest = [card for card in THROW["hand"] if card != "AS"]
    single = explain(BOT, view_of(**{**THROW, "hand": rest, "discards": ["AS"]})).options
    assert len(single) == 5
    for option in single:
        whole = pairs[frozenset((*option.cards, Card("AS")))]
        assert (option.hand, option.crib, option.value) == (whole.hand, whole.crib, whole.value)


def test_a_usual_deal_is_worth_the_table() -> None:
    """What is usual was measured: with it, the mean over deals is near the table's value."""
    chances: dict[bool, list[float]] = {True: [], False: []}
    parts: dict[bool, list[tuple[float, ...]]] = {True: [], False: []}
    for seed in range(250):
        game = Game(seed=seed)
        for seat in (0, 1):
            best = explain(BOT, game.view(seat)).options[0]
            assert best.value is not None
            assert best.hand is not None
            assert best.crib is not None
            assert best.play is not None
            dealing = seat == game.dealer
            chances[dealing].append(best.value)
            parts[dealing].append((best.hand, best.crib, best.play))
    for dealing in (True, False):
        usual = USUAL[dealing]
        found = np.mean(parts[dealing], axis=0)
        assert np.allclose(found, (usual.hand, usual.crib, usual.play), atol=0.6)
        mean = np.mean(chances[dealing])
        assert mean == pytest.approx(win_probability(0, 0, dealing), abs=0.02)


def test_the_score_matters() -> None:
    for dealer in (0, 1):
        values = []
        for scores in ([0, 120], [0, 60], [0, 0], [60, 0], [120, 0]):
            value = explain(BOT, view_of(**{**THROW, "dealer": dealer, "scores": scores})).value
            assert value is not None
            values.append(value)
        assert values == sorted(values)
        assert 0 <= values[0] < 0.2
        assert 0.9 < values[-1] <= 1
        close = explain(BOT, view_of(**{**THROW, "dealer": dealer, "scores": [120, 120]})).value
        assert close is not None
        assert 0 <= close <= 1


def test_pegging_out_wins() -> None:
    view = view_of(
        seat=0,
        dealer=0,
        hand=["8H", "KC", "KD", "3S"],
        scores=[119, 120],
        starter="4C",
        plays=[[1, "7C"]],
    )
    found = explain(BOT, view)
    assert found.options[0].cards == (Card("8H"),)
    assert found.value == 1.0
    assert all(option.value < 1.0 for option in found.options[1:])  # type: ignore[operator]


def test_no_option_where_the_hand_has_to_pass() -> None:
    view = {"seat": 0, "dealer": 0, "hand": ["KC", "KD"], "series": ["7C", "8H", "6D", "3C", "AC"]}
    answer = act(Session("random"), view, explain=True)
    assert answer["go"] is True
    assert answer["options"] == []
    assert 0 < answer["value"] < 1


def test_other_games_have_points_but_no_value() -> None:
    rules = {"players": 3, "dealt": 5, "thrown": 1, "blind": 1}
    hand = THROW["hand"][:5]
    answer = act(Session("medium"), {**THROW, "hand": hand, "rules": rules}, explain=True)
    assert answer["value"] is None
    assert len(answer["options"]) == 5
    totals = [option["hand"] + option["play"] for option in answer["options"]]
    assert totals == sorted(totals, reverse=True)
    assert {option["value"] for option in answer["options"]} == {None}
    play = {**THROW, "dealer": 2, "hand": hand[:4], "rules": rules}
    assert len(act(Session("medium"), play, explain=True)["options"]) == 4


def test_a_bots_own_explanation_is_preferred() -> None:
    class Sure(LowestCard):
        def explain(self, view: SeatView) -> Explanation:
            options = [Option((card,), value=card.rank / 20) for card in view.legal()]
            return Explanation(0.7, tuple(options))

    view = {"seat": 0, "dealer": 1, "hand": ["5H", "JC", "2S", "9D"]}
    answer = act(Session(Sure()), view, explain=True)
    assert answer["value"] == 0.7
    assert [option["cards"] for option in answer["options"]] == [["JC"], ["9D"], ["5H"], ["2S"]]
    assert answer["options"][3] == {"cards": ["2S"], "value": 0.05, "chosen": True}


# The play against sampled hands.


def _sets(*hands: str) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.array([to_mask(parse_cards(hand)) for hand in hands], np.int64)


def test_pegging_with_nothing_left_to_chance() -> None:
    """The other has no card left: what is pegged can be counted on the fingers."""
    plays = [[1, "TC"], [0, "9D"], [1, "TD"], [0, "go"], [1, "AC"], [1, "AS"]]
    view = view_of(seat=0, dealer=0, hand=["5H", "JC", "JD"], starter="4D", plays=plays)
    assert view.held == (3, 0)
    found = pegging(view, _sets(*["5H JC JD"] * 3), np.array(view.hand, np.int64))
    # A fifteen, a pair and the last card; or a pair and the last card.
    assert found.tolist() == [[5, 0], [3, 0], [3, 0]]


def test_a_seat_that_passed_is_given_no_card_that_fits() -> None:
    plays = [[1, "TC"], [0, "9D"], [1, "TD"], [0, "go"], [1, "go"], [0, "JC"], [1, "4H"]]
    view = view_of(seat=0, dealer=0, hand=["5H", "JD"], starter="4D", plays=plays)
    own, other = (barred_cards(view.for_decision(), seat) for seat in range(2))
    fits = to_mask(card for card in CARDS if card.pip <= 2)
    assert own == fits
    assert other == fits


def test_equal_questions_get_equal_answers() -> None:
    view = view_of(**THROW)
    keeps = _sets("5H JC 2S AS", "5H JC KH AS")
    nothing = np.full(2, NO_CARD, np.int64)
    first, second = pegging(view, keeps, nothing), pegging(view, keeps, nothing)
    assert (first == second).all()
    assert np.abs(first[:, 0] - pegging(view, keeps, nothing, 20_000)[:, 0]).max() < 0.6
