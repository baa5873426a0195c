"""Random, Easy and Medium: both forms agree, nothing depends on order, and they play soundly."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pytest

from crib_agents import BotError, ViewBot, bot_names, make_bot
from crib_agents.bot import Bot, decode, encode
from crib_agents.heuristic import EASY, MEDIUM, HeuristicBot, Settings
from crib_env import Game, SeatView
from crib_env.cards import Card, parse_cards, to_mask
from crib_env.expectation import CRIB_MEANS, mean_show
from crib_env.rules import SIX_CARD

NAMES = ("random", "easy", "medium")


def decisions(number: int, seed: int = 0) -> Iterator[SeatView]:
    """Views at decisions of games between random hands."""
    choices = np.random.default_rng(seed)
    while number > 0:
        game = Game(seed=int(choices.integers(1 << 40)))
        while not game.is_over and number > 0:
            legal = game.legal_actions()
            if len(legal) > 1:
                number -= 1
                yield game.view(game.to_act)
            game.apply(legal[choices.integers(len(legal))])


def answer(bot: Bot, view: SeatView) -> tuple[Card, ...]:
    return bot.discard(view) if view.phase == "discard" else (bot.play(view),)


@pytest.mark.parametrize("name", NAMES)
def test_batched_and_single_form_agree(name: str) -> None:
    bot = make_bot(name, seed=5)
    views = list(decisions(400))
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


@pytest.mark.parametrize("name", NAMES)
def test_order_of_the_hand_does_not_matter(name: str) -> None:
    bot = make_bot(name, seed=3)
    choices = np.random.default_rng(0)
    for view in decisions(150, seed=4):
        message = view.to_json()
        expected = answer(bot, SeatView.from_json(message))
        for _ in range(3):
            choices.shuffle(message["hand"])
            assert answer(bot, SeatView.from_json(message)) == expected


@pytest.mark.parametrize("name", NAMES)
def test_seat_does_not_matter(name: str) -> None:
    """The same position seen from the other chair gets the same card."""
    bot = make_bot(name, seed=3)
    for view in decisions(150, seed=8):
        turned = SeatView(
            seat=1 - view.seat,
            dealer=1 - view.dealer,
            hand=view.hand,
            scores=view.scores[::-1],
            discards=view.discards,
            starter=view.starter,
            plays=tuple(laid._replace(seat=1 - laid.seat) for laid in view.plays),
        )
        assert answer(bot, turned) == answer(bot, view)


def test_easy_and_random_have_their_own_seeds() -> None:
    views = list(decisions(200))
    for name in ("easy", "random"):
        one = [answer(make_bot(name, seed=1), view) for view in views]
        assert one == [answer(make_bot(name, seed=1), view) for view in views]
        assert one != [answer(make_bot(name, seed=2), view) for view in views]


def test_random_lays_every_card_alike() -> None:
    bot = make_bot("random")
    counts = np.zeros(6)
    for view in decisions(3_000, seed=2):
        if len(view.hand) == 6:
            counts[view.hand.index(bot.discard(view)[0])] += 1
            counts[view.hand.index(bot.discard(view)[1])] += 1
    expected = counts.sum() / 6
    assert ((counts - expected) ** 2 / expected).sum() < 20.5, counts  # chi-square, 5 dof, 0.1 %


def test_medium_throws_the_best_exact_discard() -> None:
    """Against a slow recount: mean of each keep over the 46 starters, plus or minus the crib."""
    from crib_env import show_score

    medium = make_bot("medium")
    for view in [view for view in decisions(60, seed=6) if view.phase == "discard"][:12]:
        hand = view.hand if len(view.hand) == 6 else (*view.hand, *view.discards)
        whole = SeatView(seat=view.seat, dealer=view.dealer, hand=tuple(sorted(hand)))
        sign = 1 if view.dealer == view.seat else -1
        values: dict[tuple[Card, ...], float] = {}
        starters = [card for card in range(52) if card not in whole.hand]
        for pair in combinations(whole.hand, 2):
            keep = [card for card in whole.hand if card not in pair]
            shows = [show_score(keep, starter).total for starter in starters]
            crib = CRIB_MEANS[int(sign > 0), pair[0].rank, pair[1].rank]
            values[pair] = float(np.mean(shows)) + sign * crib
            exact = mean_show(to_mask(keep), to_mask(whole.hand), SIX_CARD.to_array())
            assert exact == pytest.approx(np.mean(shows))
        assert values[medium.discard(whole)] == pytest.approx(max(values.values()))


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


def test_view_bot_is_asked_for_the_whole_discard() -> None:
    class First(ViewBot):
        name = "first"

        def discard(self, view: SeatView) -> tuple[Card, ...]:
            assert len(view.hand) == 6
            return view.hand[:2]

        def play(self, view: SeatView) -> Card:
            return view.legal()[0]

    bot = First()
    for view in decisions(80, seed=9):
        observation, mask = encode(view)
        card = bot.actions(observation[None], mask[None])[0]
        if view.phase == "play":
            assert card == bot.play(view)
        else:
            whole = sorted((*view.hand, *view.discards))
            assert card in [int(one) for one in whole[:2]] or view.discards


def test_decode_returns_the_view_from_the_own_seat() -> None:
    for view in decisions(200, seed=10):
        seen = decode(encode(view)[0], SIX_CARD)
        assert seen.hand == view.hand
        assert seen.legal() == view.legal()
        assert seen.seat == 0
        assert seen.scores[0] == view.scores[view.seat]
        assert (seen.dealer == 0) == (view.dealer == view.seat)


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
