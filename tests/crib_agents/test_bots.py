"""The players without a net: both forms agree, order does not matter, they play soundly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from crib_agents import BotError, ViewBot, bot_names, make_bot
from crib_agents.bot import Bot, decode, encode
from crib_agents.heuristic import EASY, MEDIUM, HeuristicBot, Settings
from crib_env import Game, SeatView, show_score
from crib_env.batch import GameBatch
from crib_env.cards import Card, parse_cards, to_mask
from crib_env.expectation import CRIB_MEANS, crib_value, mean_show
from crib_env.observation import observation_size, observe, offsets
from crib_env.rules import PRESETS, SIX_CARD, Rules, get_rules

NAMES = ("random", "easy", "medium", "search")

HOUSE_RULES = {
    "house rules for three": get_rules(
        {
            "preset": "three-player",
            "leader_after_reset": "go_caller",
            "go_continuation": "first_after_go",
        }
    ),
    "four for themselves": get_rules({"preset": "four-player", "teams": False}),
    "no crib": get_rules({"dealt": 4, "thrown": 0}),
}
GAMES = {**PRESETS, **HOUSE_RULES}

every_game = pytest.mark.parametrize("rules", GAMES.values(), ids=GAMES)


def games(number: int, seed: int = 0, rules: Rules = SIX_CARD) -> Iterator[Game]:
    """Games between random hands, at that many decisions with a choice."""
    choices = np.random.default_rng(seed)
    while number > 0:
        game = Game(rules, seed=int(choices.integers(1 << 40)))
        while not game.is_over and number > 0:
            legal = game.legal_actions()
            if len(legal) > 1:
                number -= 1
                yield game
            game.apply(legal[choices.integers(len(legal))])


def decisions(number: int, seed: int = 0, rules: Rules = SIX_CARD) -> Iterator[SeatView]:
    """Views at decisions of games between random hands."""
    for game in games(number, seed, rules):
        yield game.view(game.to_act)


def answer(bot: Bot, view: SeatView) -> tuple[Card, ...]:
    return bot.discard(view) if view.phase == "discard" else (bot.play(view),)


@every_game
@pytest.mark.parametrize("name", NAMES)
def test_batched_and_single_form_agree(name: str, rules: Rules) -> None:
    bot = make_bot(name, seed=5, rules=rules)
    views = list(decisions(200, rules=rules))
    pairs = [encode(view) for view in views]
    observations = np.stack([observation for observation, _ in pairs])
    masks = np.stack([mask for _, mask in pairs])
    together = bot.actions(observations, masks)
    assert together.dtype == np.int64
    order = np.random.default_rng(1).permutation(len(views))
    assert np.array_equal(bot.actions(observations[order], masks[order]), together[order])
    for view, mask, card in zip(views, masks, together, strict=True):
        assert mask[card] == 1
        assert card in [int(one) for one in answer(bot, view)]


@every_game
def test_observation_of_a_view_is_that_of_the_game(rules: Rules) -> None:
    """So that a bot lays the same card through a view as in an environment or a match."""
    for game in games(200, seed=12, rules=rules):
        seen = np.zeros(observation_size(rules), np.float32)
        observe(game.state(), rules.to_array(), game.to_act, offsets(rules), seen)
        observation, mask = encode(game.view(game.to_act))
        assert np.array_equal(observation, seen)
        assert np.flatnonzero(mask).tolist() == [int(card) for card in game.legal_actions()]


@every_game
def test_plays_whole_games(rules: Rules) -> None:
    bots = [make_bot(name, seed=1, rules=rules) for name in NAMES]
    for seed in range(3):
        game = Game(rules, seed=seed)
        while not game.is_over:
            for card in answer(bots[(game.to_act + seed) % len(bots)], game.view(game.to_act)):
                game.apply(card)
        assert max(game.scores) == rules.target


@every_game
@pytest.mark.parametrize("name", NAMES)
def test_order_of_the_hand_does_not_matter(name: str, rules: Rules) -> None:
    bot = make_bot(name, seed=3, rules=rules)
    choices = np.random.default_rng(0)
    for view in decisions(80, seed=4, rules=rules):
        message = view.to_json()
        expected = answer(bot, SeatView.from_json(message))
        for _ in range(2):
            choices.shuffle(message["hand"])
            assert answer(bot, SeatView.from_json(message)) == expected


def turned(view: SeatView, steps: int) -> SeatView:
    """The same position, everybody moved some seats to the left."""
    rules = view.rules
    scores = list(view.scores)
    for side, points in enumerate(view.scores):
        scores[rules.side((side + steps) % rules.players)] = points
    return replace(
        view,
        seat=(view.seat + steps) % rules.players,
        dealer=(view.dealer + steps) % rules.players,
        scores=tuple(scores),
        plays=tuple(laid._replace(seat=(laid.seat + steps) % rules.players) for laid in view.plays),
    )


@every_game
@pytest.mark.parametrize("name", NAMES)
def test_seat_does_not_matter(name: str, rules: Rules) -> None:
    """The same position seen from another chair gets the same card."""
    bot = make_bot(name, seed=3, rules=rules)
    for view in decisions(80, seed=8, rules=rules):
        expected = answer(bot, view)
        for steps in range(1, rules.players):
            assert answer(bot, turned(view, steps)) == expected


def test_easy_and_random_have_their_own_seeds() -> None:
    views = list(decisions(200))
    for name in ("easy", "random"):
        one = [answer(make_bot(name, seed=1), view) for view in views]
        assert one == [answer(make_bot(name, seed=1), view) for view in views]
        assert one != [answer(make_bot(name, seed=2), view) for view in views]


def test_random_lays_every_card_alike() -> None:
    bot = make_bot("random")
    batch = GameBatch(4096)
    batch.start(batch.all_rows, np.arange(4096), np.full(4096, -1))
    batch.settle(batch.all_rows)
    counts = np.zeros((7, 6))  # by how many are legal, and which of them it is
    for _ in range(40):
        rows = np.flatnonzero(~batch.over)
        observations, masks = batch.observe(rows, batch.to_act[rows])
        cards = bot.actions(observations, masks)
        before = np.arange(52) < cards[:, None]
        np.add.at(counts, (masks.sum(1), (masks * before).sum(1)), 1)
        batch.apply(rows, cards)
    for legal, most in zip(range(2, 7), (10.8, 13.8, 16.3, 18.5, 20.5)):  # chi-square at 0.1 %
        each = counts[legal, :legal]
        assert each.mean() > 1000
        assert ((each - each.mean()) ** 2 / each.mean()).sum() < most, (legal, each)


def crib_by_table(cards: tuple[Card, ...], ours: bool, rules: Rules) -> float:
    """What a crib adds: its mean in the six-card game, shared out where it holds fewer cards."""
    table = CRIB_MEANS[int(ours)]
    if len(cards) == 2:
        mean = table[cards[0].rank, cards[1].rank]
    else:
        mean = np.mean([table[cards[0].rank, other] for other in range(13)])
    crib = rules.players * rules.thrown + rules.blind
    return (1 if ours else -1) * float(mean) * crib / 4


@every_game
def test_medium_throws_the_best_exact_discard(rules: Rules) -> None:
    """Against a slow recount: mean of each keep over the starters, plus or minus the crib."""
    medium = make_bot("medium", rules=rules)
    tried = 0
    for game in games(120, seed=6, rules=rules):
        view = game.view(game.to_act)
        if view.phase != "discard" or view.discards or tried == 8:
            continue
        tried += 1
        ours = rules.side(view.dealer) == rules.side(view.seat)
        values: dict[tuple[Card, ...], float] = {}
        starters = [card for card in range(52) if card not in view.hand]
        for thrown in combinations(view.hand, rules.thrown):
            keep = [card for card in view.hand if card not in thrown]
            shows = [show_score(keep, starter, rules=rules).total for starter in starters]
            exact = mean_show(to_mask(keep), to_mask(view.hand), rules.to_array())
            assert exact == pytest.approx(np.mean(shows))
            values[thrown] = float(np.mean(shows)) + crib_by_table(thrown, ours, rules)
        assert values[medium.discard(view)] == pytest.approx(max(values.values()))
    assert tried == (8 if rules.thrown else 0)


@pytest.mark.parametrize(
    ("preset", "thrown", "share"),
    [("six-card", "5H 5S", 1.0), ("five-card-historic", "5H KS", 1.0), ("four-player", "5H", 1.0),
     ("three-player", "5H", 1.0), ("five-card", "5H", 0.5)],
)  # fmt: skip
def test_a_small_crib_is_worth_less(preset: str, thrown: str, share: float) -> None:
    cards = parse_cards(thrown)
    table = CRIB_MEANS[1]
    full = table[cards[0].rank, cards[1].rank] if len(cards) == 2 else table[cards[0].rank].mean()
    value = crib_value(to_mask(cards), PRESETS[preset].to_array(), table)
    assert value == pytest.approx(share * full)


@pytest.mark.parametrize(
    ("hand", "dealer", "thrown"),
    [
        ("5C 5D JH QS 2C 7D", 0, "2C 7D"),  # four that make fifteens stay together
        ("AC 2D 3H 4S 9C KD", 1, "9C KD"),  # nothing for the other's crib
        ("6C 7D 7H 8S QC KD", 1, "QC KD"),
    ],
)
def test_medium_throws_as_a_club_player_does(hand: str, dealer: int, thrown: str) -> None:
    view = SeatView(seat=0, dealer=dealer, hand=tuple(sorted(parse_cards(hand))))
    assert make_bot("medium").discard(view) == tuple(sorted(parse_cards(thrown)))


def lead(hand: str) -> str:
    view = SeatView.from_json(
        {"seat": 0, "dealer": 1, "hand": hand.split(), "starter": "QD", "discards": ["9C", "9D"]}
    )
    return str(make_bot("medium").play(view))


def test_medium_does_not_lead_a_five() -> None:
    for hand in ("5C TD JH KS", "5C 5D 6H KS", "4C 5D 6H JS"):
        assert lead(hand)[0] != "5"


@pytest.mark.parametrize(
    ("hand", "plays", "card"),
    [
        ("8C 2C TS", [[0, "4H"], [1, "8H"]], "8C"),  # a pair
        ("6C 2C", [[0, "4H"], [1, "8H"], [0, "3C"], [1, "TD"]], "6C"),  # thirty-one
        ("5C 2C TS", [[0, "4H"], [1, "6H"]], "5C"),  # a run and fifteen in one
    ],
)
def test_medium_takes_points(hand: str, plays: list[list[int | str]], card: str) -> None:
    start = {"seat": 0, "dealer": 1, "discards": ["9C", "9D"], "starter": "QD"}
    view = SeatView.from_json({**start, "hand": hand.split(), "plays": plays})
    assert str(make_bot("medium").play(view)) == card


def test_medium_minds_the_reply() -> None:
    """Neither a count of 21, where any ten makes 31, nor one that lets eights make fifteen."""
    start = {"seat": 0, "dealer": 1, "discards": ["AC", "AD"], "starter": "KD"}
    view = SeatView.from_json(
        {**start, "hand": ["4C", "9C", "2S"], "plays": [[0, "7H"], [1, "TH"]]}
    )
    assert str(make_bot("medium").play(view)) != "4C"


def test_easy_overlooks_the_crib() -> None:
    """With nothing to lose in the hand, Easy does not mind a pair of fives in the other's crib."""
    assert EASY.crib == 0
    assert EASY.errs > 0
    assert not EASY.starters
    careful = HeuristicBot("careful", Settings(crib=0.0))
    hand = tuple(sorted(parse_cards("5C 5D 2H 4S 9C KD")))
    mine, theirs = (SeatView(seat=0, dealer=dealer, hand=hand) for dealer in (0, 1))
    assert careful.discard(mine) == careful.discard(theirs)


@every_game
def test_view_bot_is_asked_for_the_whole_discard(rules: Rules) -> None:
    class First(ViewBot):
        name = "first"

        def discard(self, view: SeatView) -> tuple[Card, ...]:
            assert len(view.hand) == rules.dealt
            return view.hand[: rules.thrown]

        def play(self, view: SeatView) -> Card:
            return view.legal()[0]

    bot = First()
    bot.rules = rules
    for view in decisions(80, seed=9, rules=rules):
        observation, mask = encode(view)
        card = bot.actions(observation[None], mask[None])[0]
        if view.phase == "play":
            assert card == bot.play(view)
        else:
            whole = sorted((*view.hand, *view.discards))
            assert card in [int(one) for one in whole[: rules.thrown]] or view.discards


@every_game
def test_decode_returns_the_view_from_the_own_seat(rules: Rules) -> None:
    for view in decisions(200, seed=10, rules=rules):
        seen = decode(encode(view)[0], rules)
        own = turned(view, -view.seat)
        for field in ("seat", "dealer", "hand", "scores", "discards", "starter", "plays", "count"):
            assert getattr(seen, field) == getattr(own, field), field
        assert seen.legal() == view.legal()
        assert seen.held == own.held


def test_options() -> None:
    bot = make_bot("easy", errs=0.5)
    assert isinstance(bot, HeuristicBot)
    assert bot.options()["errs"] == 0.5
    bot.set_options({"errs": 0.0, "runs": True, "seed": 4})
    assert bot.settings.runs
    for options, words in (
        ({"courage": 1}, "no option 'courage'"),
        ({"errs": 2}, "out of range"),
        ({"errs": "often"}, "is a number"),
        ({"runs": 1}, "true or false"),
        ({"seed": -1}, "whole number"),
    ):
        with pytest.raises(BotError, match=words):
            bot.set_options(options)
    assert bot.settings == Settings(**{**EASY.__dict__, "errs": 0.0, "runs": True})
    with pytest.raises(BotError, match="no option 'errs'"):
        make_bot("random").set_options({"errs": 1})  # type: ignore[attr-defined]


def test_unknown_bots_are_named() -> None:
    assert set(NAMES) <= set(bot_names())
    with pytest.raises(BotError, match=r"no bot 'nobody': there are .*medium"):
        make_bot("nobody")
    with pytest.raises(BotError, match="unexpected keyword argument 'bravery'"):
        make_bot("medium", bravery=3)
    with pytest.raises(BotError, match="is a file"):
        make_bot(__file__)
    bot = make_bot("easy")
    assert make_bot(bot) is bot
    assert MEDIUM.errs == 0
