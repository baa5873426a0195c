"""OpenSpiel's cribbage, an independent implementation, replayed move by move.

Both sides are given the same cards and make the same choices by chance, in the games
of two, three and four (partners). The legal cards, the turn order and the running
scores must agree up to the end of the game. OpenSpiel has the readings that are our
default: the seat to the left of the last card leads, and after a go all go on in turn
(`test_it_has_the_default_readings_of_go_and_lead`). Where the two may differ,
OpenSpiel is at fault, in four known ways:

- a four-card flush in the crib is paid (`test_it_pays_four_suited_cards_in_the_crib`);
- nobody's peg stops in the last hole, and all hands are counted before it asks
  who has won, in the order of the seats (`test_it_counts_on_past_the_target`);
- a seat that cannot play must pass by an action of its own, even without a card
  in hand (`test_it_needs_explicit_passes`);
- seat 0 throws first, whoever deals (nobody learns anything by it).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import pyspiel
import pytest

from crib_env import Game, Rules, pegging_score, show_score
from crib_env import state as S
from crib_env.cards import CARDS, Card, from_mask, parse_cards
from crib_env.rules import FOUR_PLAYER, SIX_CARD, THREE_PLAYER
from crib_env.state import EventKind
from tests.crib_env.support import deck_for, game_in_play

RULES = {2: SIX_CARD, 3: THREE_PLAYER, 4: FOUR_PLAYER}
SPIEL = {players: pyspiel.load_game("cribbage", {"players": players}) for players in RULES}
PASS = 2756
THEIRS = [13 * card.suit + card.rank for card in CARDS]
OURS = [CARDS[THEIRS.index(card)] for card in range(52)]


SERIES = (EventKind.FIFTEEN, EventKind.THIRTY_ONE, EventKind.PAIR, EventKind.RUN)


def pair_action(one: Card, two: Card) -> int:
    """OpenSpiel's action for throwing two cards, the lower first."""
    return 52 + 52 * THEIRS[one] + THEIRS[two]


def throw_action(cards: tuple[Card, ...] | list[Card]) -> int:
    """OpenSpiel's action for throwing one card, or two at once."""
    return THEIRS[cards[0]] if len(cards) == 1 else pair_action(*cards)


def told(state: pyspiel.State, name: str) -> list[int]:
    """The numbers on a line of OpenSpiel's text."""
    text = str(state)
    at = text.index(f"{name}: ") + len(name) + 2
    return [int(word) for word in text[at : text.index("\n", at)].split()]


class Replay:
    """One game on both sides.

    Attributes:
        extra: points that OpenSpiel has paid in excess, by side, for flushes in the crib.
        passes: passes that it asked for.
        decisions: choices compared.
    """

    def __init__(self, game: Game, chance: random.Random) -> None:
        self.game = game
        self.chance = chance
        self.rules = game.rules
        self.seats = range(self.rules.players)
        self.state = SPIEL[self.rules.players].new_initial_state()
        self.extra = [0] * self.rules.sides
        self.passes = 0
        self.decisions = 0
        self.shows: list[tuple[int, tuple[Card, ...], bool]] = []
        """What is counted in this deal, in order: whose, which cards, whether the crib."""

    def run(self) -> None:
        """Play until either side says that the game is over."""
        while not self.game.is_over and not self.state.is_terminal():
            self.deal()
            self.play()

    def deal(self) -> None:
        """Deal OpenSpiel the cards that lie in our hands; throw the same on both sides."""
        game, state = self.game, self.state
        hands = [game.hand(seat) for seat in self.seats]
        blind = from_mask(int(game.state()[S.CRIB]))
        for card in (*(card for hand in hands for card in hand), *blind):
            state.apply_action(THEIRS[card])
        self.starter = CARDS[game.state()[S.STARTER]]
        self.dealer = game.dealer
        in_order = [(self.dealer + step) % len(hands) for step in range(1, len(hands) + 1)]
        number = self.rules.thrown
        thrown = [sorted(self.chance.sample(hand, number)) for hand in hands]
        kept = [tuple(c for c in hands[seat] if c not in thrown[seat]) for seat in self.seats]
        crib = tuple(sorted((*blind, *(card for cards in thrown for card in cards))))
        self.shows = [*((seat, kept[seat], False) for seat in in_order), (self.dealer, crib, True)]
        for seat in in_order:
            for card in thrown[seat]:
                assert game.to_act == seat
                game.apply(card)
        for seat in self.seats:
            assert state.current_player() == seat
            throws = [throw_action(cards) for cards in combinations(hands[seat], number)]
            assert sorted(state.legal_actions()) == sorted(throws)
            state.apply_action(throw_action(thrown[seat]))
            self.decisions += 1
        assert state.is_chance_node()
        state.apply_action(THEIRS[self.starter])
        self.compare_scores()

    def play(self) -> None:
        """Lay the cards of one deal on both sides."""
        game, state = self.game, self.state
        deal = game.deal
        while game.deal == deal and not game.is_over and not state.is_terminal():
            assert state.current_player() == game.to_act
            legal = game.legal_actions()
            assert sorted([OURS[action] for action in state.legal_actions()]) == legal
            card = self.chance.choice(legal)
            before = game.scores
            game.apply(card)
            state.apply_action(THEIRS[card])
            self.decisions += 1
            self.pass_on()
            if told(state, "Round") == [deal]:  # deals that OpenSpiel has counted to the end
                self.compare_show(before)
            else:
                assert game.deal == deal
                self.compare_scores()

    def pass_on(self) -> None:
        """The passes that OpenSpiel asks for; our engine says go by itself."""
        state = self.state
        while not state.is_terminal() and state.legal_actions() == [PASS]:
            state.apply_action(PASS)
            self.passes += 1

    def winner(self) -> int:
        """The side that has won, if one asks OpenSpiel: it adds a bonus to its points."""
        returns = self.state.returns()
        return self.rules.side(returns.index(max(returns)))

    def points(self) -> tuple[int, ...]:
        """OpenSpiel's running score by side, without what it paid in excess."""
        scores = told(self.state, "Scores")
        sides = self.rules.sides
        assert all(scores[seat] == scores[self.rules.side(seat)] for seat in self.seats)
        return tuple(scores[side] - self.extra[side] for side in range(sides))

    @property
    def cut_short(self) -> bool:
        """Whether OpenSpiel has only stopped for what it paid in excess."""
        return self.state.is_terminal() and max(self.points()) < 121

    def compare_scores(self) -> None:
        """The same points, but for the winner's peg, which stops in the last hole."""
        if self.cut_short:
            return
        assert tuple(min(points, 121) for points in self.points()) == self.game.scores
        if self.game.is_over:
            assert self.state.is_terminal()
            assert self.winner() == self.game.winner

    def compare_show(self, before: tuple[int, ...]) -> None:
        """All counts of the deal, also those that our game did not come to."""
        side = self.rules.side
        suits = {card.suit for card in self.shows[-1][1]}
        if len(suits) == 1 and self.starter.suit not in suits:
            self.extra[side(self.dealer)] += 4
        points = list(before)
        counted = []
        for event in self.game.last_events:
            points[side(event.seat)] += event.worth
            if event.kind in (EventKind.HAND, EventKind.CRIB):
                counted.append((event.seat, event.cards, event.kind == EventKind.CRIB))
        assert counted == self.shows[: len(counted)]
        if not counted:
            # Won by the last card of all. Our game was over at the first points that
            # reached the target; OpenSpiel pays the rest of the card as well.
            before_it = self.game.copy()
            before_it.undo()
            series = [*before_it.view(0).series, self.game.actions[-1]]
            paid = sum(e.worth for e in self.game.last_events if e.kind in SERIES)
            points[side(before_it.to_act)] += pegging_score(series).total - paid
        for seat, cards, is_crib in self.shows[len(counted) :]:
            assert self.game.is_over
            points[side(seat)] += show_score(cards, self.starter, is_crib).total
        assert self.points() == tuple(points)
        if not self.game.is_over:
            assert self.game.scores == tuple(points)


def replay(seed: int, players: int = 2) -> Replay:
    game = Game(RULES[players], seed, dealer=0)  # OpenSpiel's first dealer is seat 0
    both = Replay(game, random.Random(seed))
    both.run()
    return both


def replay_many(games: int, players: int) -> None:
    finished = wrong = flushes = decisions = passes = 0
    for seed in range(games):
        both = replay(seed, players)
        decisions += both.decisions
        passes += both.passes
        flushes += any(both.extra)
        if not both.cut_short:
            assert both.game.is_over
            finished += 1
            wrong += both.winner() != both.game.winner
    # Most games end on both sides; the others were cut short by a flush paid too much.
    assert finished > 0.95 * games
    assert decisions > 100 * games
    assert passes > 40 * games
    assert 0.02 * games < flushes < 0.2 * games
    assert 0.02 * finished < wrong < 0.12 * finished


@pytest.mark.parametrize(("players", "games"), [(2, 300), (3, 200), (4, 200)])
def test_some_games_move_by_move(players: int, games: int) -> None:
    replay_many(games, players)


@pytest.mark.slow
@pytest.mark.parametrize(("players", "games"), [(2, 20_000), (3, 5_000), (4, 5_000)])
def test_many_games_move_by_move(players: int, games: int) -> None:
    replay_many(games, players)


# The known faults, one case each


def spiel_deal(
    hands: Sequence[str],
    thrown: Sequence[str],
    starter: str,
    plays: str,
    rules: Rules = SIX_CARD,
    blind: str = "",
) -> tuple[pyspiel.State, Game, list[int]]:
    """The first deal, dealt by seat 0, on both sides; also who had to pass, in order."""
    dealt = [parse_cards(hand) for hand in hands]
    deck = deck_for(dict(enumerate(dealt)), 0, starter, blind)
    game = Game(rules, deck=deck, dealer=0)
    state = SPIEL[rules.players].new_initial_state()
    for card in (*(card for hand in dealt for card in hand), *parse_cards(blind)):
        state.apply_action(THEIRS[card])
    throws = [sorted(parse_cards(cards)) for cards in thrown]
    for throw in throws:
        state.apply_action(throw_action(throw))
    for seat in range(1, rules.players + 1):
        for card in throws[seat % rules.players]:
            game.apply(card)
    state.apply_action(THEIRS[Card(starter)])
    passes = []
    for card in parse_cards(plays):
        game.apply(card)
        state.apply_action(THEIRS[card])
        while not state.is_chance_node() and state.legal_actions() == [PASS]:
            passes.append(state.current_player())
            state.apply_action(PASS)
    return state, game, passes


def test_it_has_the_default_readings_of_go_and_lead() -> None:
    """Seat 2 says go at 27 and 29, seats 0 and 1 go on; then the seat left of the last leads."""
    hands = ("7C AD 5H 6S QC", "TC 9D 2H QS QD", "KC 8D 9H JS QH")
    state, game, passes = spiel_deal(
        hands, ("QC", "QD", "QH"), "4S", "TC KC 7C 2H AD", THREE_PLAYER, "KS"
    )
    assert passes == [2, 1, 2, 0]
    assert state.current_player() == game.to_act == 1
    caller_leads: dict[str, Any] = {"leader_after_reset": "go_caller"}
    for other, leader in ((caller_leads, 2), ({}, 1)):
        rules = replace(THREE_PLAYER, **other)
        mine = game_in_play({seat: hand[:11] for seat, hand in enumerate(hands)}, 0, rules=rules)
        for card in parse_cards("TC KC 7C 2H AD"):
            mine.apply(card)
        assert mine.to_act == leader


@pytest.mark.parametrize(
    "other", [{"leader_after_reset": "go_caller"}, {"go_continuation": "first_after_go"}]
)
@pytest.mark.parametrize("players", [3, 4])
def test_the_other_readings_are_told_apart(players: int, other: dict[str, Any]) -> None:
    def replay_so(seed: int) -> None:
        game = Game(replace(RULES[players], **other), seed, dealer=0)
        Replay(game, random.Random(seed)).run()

    with pytest.raises(AssertionError):
        list(map(replay_so, range(5)))


def test_it_pays_four_suited_cards_in_the_crib() -> None:
    state, game, _ = spiel_deal(
        hands=("2H 4H 9C 9D TS QD", "6H QH 8C 8S TD KC"),
        thrown=("2H 4H", "6H QH"),
        starter="KS",
        plays="KC QD TD TS 8S 9D 8C 9C",
    )
    crib = next(event for event in game.events if event.kind == EventKind.CRIB)
    assert crib.worth == show_score("2H 4H 6H QH", "KS", is_crib=True).total == 0
    assert show_score("2H 4H 6H QH", "KS", is_crib=True, rules=Rules(crib_flush="four")).total == 4
    assert state.returns() == [game.scores[0] + 4, game.scores[1]]


@pytest.mark.parametrize(
    ("players", "seed", "ours", "theirs", "wrong"),
    [
        (2, 17, (118, 121), (125, 121), 0),
        (2, 26, (117, 121), (125, 124), 0),
        (2, 87, (114, 121), (124, 123), 0),
        (3, 16, (115, 121, 107), (121, 121, 109), 0),
        (3, 45, (111, 115, 121), (119, 130, 121), 1),
        (4, 7, (112, 121), (124, 127), 0),
    ],
)
def test_it_counts_on_past_the_target(
    players: int, seed: int, ours: tuple[int, ...], theirs: tuple[int, ...], wrong: int
) -> None:
    """A hand reaches 121; OpenSpiel counts the others too and lets an earlier seat win."""
    both = replay(seed, players)
    assert both.game.scores == ours
    assert both.game.winner == ours.index(121)
    assert both.game.last_events[-2].kind == EventKind.HAND
    assert both.points() == theirs
    assert both.winner() == wrong


def test_it_needs_explicit_passes() -> None:
    """Seat 1 leads K Q J T against tens: our engine is asked for eight cards and no more."""
    state, game, passes = spiel_deal(
        hands=("TC TD TH QS 2C 2D", "KC QC JC KD 3C 3D"),
        thrown=("2C 2D", "3C 3D"),
        starter="7S",
        plays="KC TC QC TD JC TH KD QS",
    )
    assert len(game.actions) == 4 + 8
    assert passes == [0, 1, 1, 0, 1, 0]
    goes = [event.seat for event in game.events if event.kind == EventKind.GO]
    assert goes == [0, 1]
    assert state.returns() == list(game.scores)
