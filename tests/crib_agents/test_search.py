"""The yardstick: its solver against the engine, its draws against counting, its choices."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from crib_agents import BotError, make_bot
from crib_agents.bot import encode
from crib_agents.heuristic import MEDIUM, play_value, unseen_cards
from crib_agents.hidden import barred_cards, draw_hands, laid_by, usual_throws
from crib_agents.search import known_in_full, make_search, shows
from crib_agents.solver import (
    SPAN,
    chance_after,
    chances_when_counted,
    ranks_of,
)
from crib_agents.throwing import throw_chances
from crib_env import Game, SeatView, engine
from crib_env import rules as R
from crib_env import state as S
from crib_env.cards import FULL_DECK, Card, from_mask, parse_cards, to_mask
from crib_env.deal_points import DealPoints, deal_points
from crib_env.expectation import CRIB_MEANS, discard_values, place_of_ranks
from crib_env.observation import offsets, recall
from crib_env.rules import PRESETS, SIX_CARD, Rules, get_rules
from crib_env.state import EventKind
from crib_env.win_probability import supports, win_probability

DATA = Path(__file__).parents[1] / "data"
FOR_TWO = {name: rules for name, rules in PRESETS.items() if supports(rules)}
FOR_TWO["heels at the show, one series"] = get_rules(
    {"heels_timing": "show", "play_single_count": True, "crib_flush": "four"}
)
Row = NDArray[np.int64]


def known(game: Game) -> Row:
    """What the seat to act knows, as the kernels take it."""
    row = np.zeros(S.STATE_SIZE, np.int64)
    observation, _ = encode(game.view(game.to_act))
    recall(observation, game.rules.to_array(), offsets(game.rules), row)
    return row


def plays(
    number: int, rules: Rules = SIX_CARD, seed: int = 0, near: bool = False
) -> Iterator[Game]:
    """Games between random hands, at that many choices of the play."""
    chance = np.random.default_rng(seed)
    low, high = (105, 121) if near else (0, 121)
    while number > 0:
        scores = [int(points) for points in chance.integers(low, high, 2)]
        game = Game(rules, seed=int(chance.integers(1 << 40)), scores=scores)
        while not game.is_over and game.events[-1].deal == 1 and number > 0:
            legal = game.legal_actions()
            if game.phase == "play" and len(legal) > 1:
                number -= 1
                yield game
            game.apply(legal[chance.integers(len(legal))])


def searched(game: Game) -> dict[Card, float]:
    """Seat to act's chance with each card, when it is told the other's hand."""
    rules = game.rules.to_array()
    state = game.state()
    row = known(game)
    other = 1 - game.to_act
    mine, theirs = shows(row, rules, int(state[S.KEPT + other]), int(state[S.THROWN_CARDS + other]))
    ends = chances_when_counted()[int(row[S.DEALER] == 0)].ravel()
    own = ranks_of(row[S.HAND])
    held = ranks_of(state[S.HAND + other])
    single = bool(rules[R.SINGLE_COUNT])
    places = {card.rank: at for at, card in enumerate(from_mask(int(row[S.HAND])))}
    base = SPAN * mine + theirs
    return {
        card: chance_after(row, places[card.rank], own, held, ends, base, single)
        for card in game.legal_actions()
    }


def brute(state: Row, rules: Row, seat: int) -> float:
    """The seat's chance by minimax over the engine itself, to the last hand counted."""
    if state[S.PHASE] == S.Phase.OVER:
        return float(state[S.WINNER] == seat)
    own, other = (int(state[S.SCORE + who]) for who in (seat, 1 - seat))
    if state[S.PHASE] == S.Phase.DEAL_OVER:
        return win_probability(own, other, dealing=bool(state[S.DEALER] != seat))
    values = [after(state, rules, card, seat) for card in from_mask(int(engine.legal(state)))]
    return max(values) if state[S.TO_ACT] == seat else min(values)


def after(state: Row, rules: Row, card: Card, seat: int) -> float:
    nxt = state.copy()
    engine.apply(nxt, rules, int(card), engine.NO_EVENTS)
    return brute(nxt, rules, seat)


@pytest.mark.parametrize("rules", FOR_TWO.values(), ids=FOR_TWO)
@pytest.mark.parametrize("near", [False, True])
def test_solver_is_minimax_over_the_engine(rules: Rules, near: bool) -> None:
    """Goes, resets, last cards, pegging out, the show in its order, the next deal."""
    settings = rules.to_array()
    for game in plays(40, rules, seed=3, near=near):
        state = game.state()
        found = searched(game)
        for card, value in found.items():
            assert value == pytest.approx(after(state, settings, card, game.to_act), abs=1e-12)


def draws(
    row: Row, number: int, seed: int = 1, rules: Rules = SIX_CARD, strays: float = 1.0
) -> tuple[Row, Row, NDArray[np.float64]]:
    held = np.zeros(number, np.int64)
    thrown = np.zeros(number, np.int64)
    weights = np.zeros(number)
    found = draw_hands(
        row,
        rules.to_array(),
        usual_throws(rules),
        MEDIUM.to_array(),
        CRIB_MEANS,
        strays,
        seed,
        held,
        thrown,
        weights,
    )
    return held[:found], thrown[:found], weights[:found]


def test_hands_drawn_agree_with_what_was_seen() -> None:
    """The cards seen elsewhere, their number, and every go, as the game's own events tell it."""
    restricted = 0
    for game in plays(400, seed=5):
        row = known(game)
        state = game.state()
        other = 1 - game.to_act
        assert known_in_full(row)
        deal = [event for event in game.events if event.deal == 1]
        goes = [e for e in deal if e.kind is EventKind.GO and e.seat == other]
        stuck = {card for card in range(52) for go in goes if Card(card).pip <= 31 - go.count}
        restricted += bool(stuck)
        hidden = int(state[S.HAND + other] | state[S.THROWN_CARDS + other])
        assert not state[S.HAND + other] & barred_cards(row, 1)
        seen = {int(card) for card in from_mask(FULL_DECK)} - set(unseen(row))
        assert not seen & {int(card) for card in from_mask(hidden)}
        for held, thrown, weight in zip(*draws(row, 40, strays=0.2), strict=True):
            cards = from_mask(int(held))
            assert len(cards) == state[S.HELD + other]
            assert len(from_mask(int(thrown))) == 2
            assert not held & thrown
            assert not seen & {int(card) for card in from_mask(int(held | thrown))}
            assert not stuck & {int(card) for card in cards}
            assert weight > 0
    assert restricted > 10


def unseen(row: Row) -> list[int]:
    seen = int(row[S.HAND] | row[S.THROWN_CARDS] | laid_by(row, 0) | laid_by(row, 1))
    seen |= 1 << int(row[S.STARTER])
    return [card for card in range(52) if not (seen >> card) & 1]


def medium_throws(six: int, dealing: bool) -> int:
    hand = from_mask(six)
    view = SeatView(seat=0, dealer=0 if dealing else 1, hand=hand)
    return to_mask(make_bot("medium").discard(view))


def test_hands_drawn_are_those_that_medium_keeps() -> None:
    """Nobs aside, the other keeps what Medium would keep from the six cards."""
    values = np.zeros(52)
    losses = []
    for game in plays(60, seed=8):
        row = known(game)
        laid = int(laid_by(row, 1))
        if barred_cards(row, 1):
            continue
        dealing = bool(row[S.DEALER] == 1)
        for held, thrown, _ in zip(*draws(row, 10), strict=True):
            six = int(held | thrown) | laid
            best = medium_throws(six, dealing)
            if best == thrown:
                losses.append(0.0)
                continue
            state = np.zeros(S.STATE_SIZE, np.int64)
            state[S.HAND], state[S.DEALER] = six, 0 if dealing else 1
            discard_values(state, SIX_CARD.to_array(), 0, CRIB_MEANS, values)
            first, second = from_mask(int(thrown))
            losses.append(values.max() - min(values[first], values[second]))
    assert np.mean(np.array(losses) == 0) > 0.9
    assert max(losses) < 0.35


def test_draws_weigh_the_hands_rightly() -> None:
    """Against every hand that could be: one card held after a go, by the shares of its ranks."""
    game = next(
        game
        for game in plays(4000, seed=11)
        if game.state()[S.HELD + 1 - game.to_act] == 1 and barred_cards(known(game), 1)
    )
    row = known(game)
    laid = int(laid_by(row, 1))
    barred = int(barred_cards(row, 1))
    throws = usual_throws(SIX_CARD)[int(row[S.DEALER] == 1)]
    shares = np.zeros(13)
    for three in combinations(unseen(row), 3):
        six = laid | sum(1 << card for card in three)
        if any(bin(six & (0x1111111111111 << suit)).count("1") >= 4 for suit in range(4)):
            thrown = medium_throws(six, bool(row[S.DEALER] == 1))
        else:
            ranks = int(throws[place_of_ranks(six)])
            thrown = take_rank(six, ranks >> 4)
            thrown |= take_rank(six ^ thrown, ranks & 15)
        held = six & ~thrown & ~laid
        if laid & thrown or held & barred:
            continue
        shares[from_mask(held)[0].rank] += 1
    shares /= shares.sum()
    hands, _, weights = draws(row, 20_000)
    drawn = np.zeros(13)
    for hand, weight in zip(hands, weights, strict=True):
        drawn[from_mask(int(hand))[0].rank] += weight
    drawn /= drawn.sum()
    assert np.count_nonzero(shares) >= 3
    assert np.abs(drawn - shares).max() < 0.015


def odd_leads(row: Row, strays: float) -> float:
    """The share of hands drawn with which the lead was clearly worse than another card."""
    medium, rules = MEDIUM.to_array(), SIX_CARD.to_array()
    led = from_mask(int(laid_by(row, 1)))[0]
    odd = []
    for held, thrown, _ in zip(*draws(row, 200, strays=strays), strict=True):
        lead = SeatView(
            seat=0,
            dealer=1,
            hand=from_mask(int(held) | 1 << int(led)),
            discards=from_mask(int(thrown)),
            starter=Card(int(row[S.STARTER])),
        )
        start = np.zeros(S.STATE_SIZE, np.int64)
        recall(encode(lead)[0], rules, offsets(SIX_CARD), start)
        hidden = unseen_cards(start)
        worth = {c: play_value(start, rules, int(c), hidden, medium) for c in lead.hand}
        odd.append(max(worth.values()) > worth[led] + 0.5)
    return float(np.mean(odd))


def test_hands_are_judged_by_what_was_laid() -> None:
    """Where the other led, a hand with a clearly better lead is there as often as it should."""
    rows = [known(game) for game in plays(150, seed=14)]
    after_lead = [row for row in rows if row[S.HELD + 1] == 3 and row[S.DEALER] == 0][:15]
    found, expected = [], []
    for row in after_lead:
        before = odd_leads(row, 1.0)
        expected.append(0.2 * before / (0.2 * before + 1 - before))
        found.append(odd_leads(row, 0.2))
    assert len(found) == 15
    assert np.mean(found) == pytest.approx(np.mean(expected), abs=0.03)
    assert np.abs(np.array(found) - expected).max() < 0.15


def take_rank(cards: int, rank: int) -> int:
    return 1 << min(int(card) for card in from_mask(cards) if card.rank == rank)


def view(hand: str, scores: tuple[int, int], **more: object) -> SeatView:
    message = {"seat": 0, "dealer": 1, "hand": hand.split(), "scores": list(scores), **more}
    return SeatView.from_json(message)


def test_takes_the_win_in_the_play() -> None:
    """Two points short: fifteen wins at once, where three of a kind later would be too late."""
    position = {"discards": ["9C", "9D"], "starter": "QD", "plays": [[0, "4H"], [1, "8H"]]}
    for scores in ((119, 119), (119, 120)):
        assert str(make_search().play(view("3C 2S TS", scores, **position))) == "3C"


def test_holds_back_where_the_reply_would_win() -> None:
    """At 119 all the dealer lacks is a pair, and pone counts first with ten in hand."""
    position = {"discards": ["2C", "2D"], "starter": "5D"}
    chosen = make_search(samples=400).play(view("5C 5H JS KD", (114, 119), **position))
    assert chosen.rank != 4  # a five would let any ten make fifteen


def endgame_cases() -> list[dict[str, Any]]:
    lines = (DATA / "endgame_discards.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


every_case = pytest.mark.parametrize("case", endgame_cases(), ids=lambda case: str(case["id"]))


def chances_by_keep(
    case: dict[str, Any], scores: tuple[int, int], points: DealPoints
) -> dict[str, float]:
    """Pone's chance to win with each keep, by its ranks."""
    one = view(" ".join(case["cards"]), scores)
    row = np.zeros(S.STATE_SIZE, np.int64)
    recall(encode(one)[0], SIX_CARD.to_array(), offsets(SIX_CARD), row)
    out = np.empty((52, 52))
    ends = chances_when_counted().reshape(2, -1)
    throw_chances(row, SIX_CARD.to_array(), ends, points.pegged, points.hand, points.crib, out)
    return {
        "".join(str(card)[0] for card in one.hand if card not in thrown): float(out[thrown])
        for thrown in combinations(one.hand, 2)
    }


@every_case
def test_published_endgame_discards_where_nobody_pegs(case: dict[str, Any]) -> None:
    """Pone needs all from its hand and the dealer, at 119, wins by a jack or by its count."""
    points = deal_points()
    sure = DealPoints(np.zeros_like(points.pegged), np.zeros_like(points.hand), points.crib)
    sure.pegged[:, 0] = 1.0
    sure.hand[:, 5] = 1.0
    chances = chances_by_keep(case, (121 - case["need"], 119), sure)
    best = max(chances.values())
    for keep, starters in case["mine"].items():
        assert chances[keep] == pytest.approx(starters / 46)
    equal = {keep for keep, chance in chances.items() if chance > best - 1e-12}
    assert equal == set(case["published_keep"])


ENDGAME_CHOICES = {
    # case: what is kept where both peg as usual, and by how much that is better, in P(win)
    "BQ1": ("2468", 0.0093),
    "BQ3": ("2678", 0.0),
    "BQ5": ("A45K", 0.0),
}


@every_case
def test_published_endgame_discards_where_both_peg(case: dict[str, Any]) -> None:
    """Where the choice differs, a smaller hand and some points in the play are likelier."""
    scores = (121 - case["need"], 119)
    chances = chances_by_keep(case, scores, deal_points())
    thrown = make_search().discard(view(" ".join(case["cards"]), scores))
    keep = "".join(
        str(card)[0] for card in parse_cards(" ".join(case["cards"])) if card not in thrown
    )
    published = max(chances[one] for one in case["published_keep"])
    expected, better = ENDGAME_CHOICES[case["id"]]
    assert keep == expected
    assert chances[keep] - published == pytest.approx(better, abs=5e-4)


def test_far_from_the_end_it_throws_for_points() -> None:
    """At 0-0 a pair by the chance to win loses next to nothing by the mean of points."""
    values = np.zeros(52)
    losses = []
    for seed in range(300):
        game = Game(seed=seed)
        thrown = make_search().discard(game.view(game.to_act))
        discard_values(game.state(), SIX_CARD.to_array(), game.to_act, CRIB_MEANS, values)
        losses.append(values.max() - min(values[int(card)] for card in thrown))
    assert np.mean(losses) < 0.01
    assert max(losses) < 0.2


def test_choices_depend_on_the_position_and_the_seed_alone() -> None:
    views = [game.view(game.to_act) for game in plays(120, seed=21)]
    bot = make_search(samples=20)
    pairs = [encode(one) for one in views]
    observations, masks = (np.stack(arrays) for arrays in zip(*pairs, strict=True))
    together = bot.actions(observations, masks)
    order = np.random.default_rng(1).permutation(len(views))
    assert np.array_equal(bot.actions(observations[order], masks[order]), together[order])
    assert [int(make_search(samples=20).play(one)) for one in views] == together.tolist()
    other = make_search(samples=20, seed=9).actions(observations, masks)
    assert 0 < (other != together).sum() < len(views) / 3


@pytest.mark.parametrize("rules", PRESETS.values(), ids=PRESETS)
def test_plays_every_game(rules: Rules) -> None:
    bot = make_search(rules, samples=10)
    medium = make_bot("medium", rules=rules)
    assert bot.exact == (rules in FOR_TWO.values())
    for seed in range(3):
        game = Game(rules, seed=seed)
        while not game.is_over:
            seen = game.view(game.to_act)
            cards = bot.discard(seen) if game.phase == "discard" else (bot.play(seen),)
            if not bot.exact:
                assert cards == (
                    medium.discard(seen) if game.phase == "discard" else (medium.play(seen),)
                )
            for card in cards:
                game.apply(card)


def test_where_not_all_is_told_it_plays_as_medium() -> None:
    whole: dict[str, Any] = {
        "seat": 0, "dealer": 1, "hand": ["5H", "JC", "2D"], "discards": ["2S", "9D"],
        "starter": "KD", "plays": [[0, "7C"], [1, "8D"]],
    }  # fmt: skip
    bot = make_search()
    assert bot.explain(SeatView.from_json(whole)) is not None
    for left_out in ("discards", "starter"):
        one = SeatView.from_json({key: whole[key] for key in whole if key != left_out})
        assert bot.play(one) == make_bot("medium").play(one)
        assert bot.explain(one) is None


def test_options() -> None:
    bot = make_search()
    assert bot.options() == {"samples": 100, "strays": 0.2, "seed": 0}
    bot.set_options({"samples": 7})
    assert bot.samples == 7
    for options, words in (
        ({"samples": 0}, "whole number from 1"),
        ({"samples": True}, "whole number from 1"),
        ({"strays": 0}, "number from 0.01 to 1"),
        ({"strays": "often"}, "number from 0.01 to 1"),
        ({"depth": 3}, "no option 'depth'"),
        ({"seed": -1}, "seed is a whole number"),
    ):
        with pytest.raises(BotError, match=words):
            bot.set_options(options)
    assert bot.options() == {"samples": 7, "strays": 0.2, "seed": 0}


def test_explains_by_the_chance_to_win() -> None:
    bot = make_search()
    for number, game in enumerate(plays(30, seed=2)):
        seen = game.view(game.to_act)
        told = bot.explain(seen)
        assert told is not None
        assert {option.cards[0] for option in told.options} == set(seen.legal())
        best = max(told.options, key=lambda option: option.value or 0.0)
        assert told.value == best.value
        assert best.cards[0].rank == bot.play(seen).rank, number
    for seed in range(5):
        seen = Game(seed=seed).view(Game(seed=seed).to_act)
        told = bot.explain(seen)
        assert told is not None
        assert len(told.options) == 15
        assert max(told.options, key=lambda option: option.value or 0.0).cards == bot.discard(seen)


@pytest.mark.slow
def test_speed() -> None:
    """At least 300 cards a second on one core, with 100 hands for each."""
    pairs = [encode(game.view(game.to_act)) for game in plays(2000, seed=4)]
    observations, masks = (np.stack(arrays) for arrays in zip(*pairs, strict=True))
    bot = make_search()
    bot.actions(observations[:10], masks[:10])
    before = time.perf_counter()
    bot.actions(observations, masks)
    rate = len(pairs) / (time.perf_counter() - before)
    print(f"{rate:,.0f} cards a second")
    assert rate > 300
