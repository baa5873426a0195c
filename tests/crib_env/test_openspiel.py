"""OpenSpiel's cribbage, an independent implementation, replayed move by move.

Both sides are given the same cards and make the same choices by chance. The
legal cards, the turn order and the running scores must agree up to the end of
the game. Where they may differ, OpenSpiel is at fault, in four known ways:

- a four-card flush in the crib is paid (`test_it_pays_four_suited_cards_in_the_crib`);
- nobody's peg stops in the last hole, and all hands are counted before it asks
  who has won, in the order of the seats (`test_it_counts_on_past_the_target`);
- a seat that cannot play must pass by an action of its own, even without a card
  in hand (`test_it_needs_explicit_passes`);
- seat 0 throws first, whoever deals (nobody learns anything by it).
"""

from __future__ import annotations

import random
from itertools import combinations

import pyspiel
import pytest

from crib_env import Game, Rules, pegging_score, show_score
from crib_env import state as S
from crib_env.cards import CARDS, Card, parse_cards
from crib_env.state import EventKind
from tests.crib_env.support import deck_for

SPIEL = pyspiel.load_game("cribbage")
PASS = 2756
BONUS = 1000
"""What OpenSpiel adds to the winner's points, and takes from the loser's, in the end."""
THEIRS = [13 * card.suit + card.rank for card in CARDS]
OURS = [CARDS[THEIRS.index(card)] for card in range(52)]


SERIES = (EventKind.FIFTEEN, EventKind.THIRTY_ONE, EventKind.PAIR, EventKind.RUN)


def pair_action(one: Card, two: Card) -> int:
    """OpenSpiel's action for throwing two cards, the lower first."""
    return 52 + 52 * THEIRS[one] + THEIRS[two]


class Replay:
    """One game on both sides.

    Attributes:
        extra: points that OpenSpiel has paid in excess, by seat, for flushes in the crib.
        passes: passes that it asked for.
        decisions: choices compared.
    """

    def __init__(self, game: Game, chance: random.Random) -> None:
        self.game = game
        self.chance = chance
        self.state = SPIEL.new_initial_state()
        self.extra = [0, 0]
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
        """Deal OpenSpiel the cards that lie in our hands; throw two of each on both sides."""
        game, state = self.game, self.state
        hands = [game.hand(0), game.hand(1)]
        for card in (*hands[0], *hands[1]):
            state.apply_action(THEIRS[card])
        self.starter = CARDS[game.state()[S.STARTER]]
        self.dealer = game.dealer
        in_order = (1 - self.dealer, self.dealer)
        thrown = [sorted(self.chance.sample(hand, 2)) for hand in hands]
        kept = [tuple(c for c in hands[seat] if c not in thrown[seat]) for seat in (0, 1)]
        crib = tuple(sorted(thrown[0] + thrown[1]))
        self.shows = [*((seat, kept[seat], False) for seat in in_order), (self.dealer, crib, True)]
        for seat in in_order:
            for card in thrown[seat]:
                assert game.to_act == seat
                game.apply(card)
        for seat in (0, 1):
            assert state.current_player() == seat
            pairs = [pair_action(*pair) for pair in combinations(hands[seat], 2)]
            assert sorted(state.legal_actions()) == sorted(pairs)
            state.apply_action(pair_action(*thrown[seat]))
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
            if self.round() == deal:
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

    def round(self) -> int:
        """How many deals OpenSpiel has counted to the end."""
        text = str(self.state)
        at = text.index("Round: ") + 7
        return int(text[at : text.index("\n", at)])

    def winner(self) -> int:
        """Who has won, if one asks OpenSpiel."""
        zero, one = self.state.returns()
        return int(one > zero)

    def points(self) -> tuple[int, int]:
        """OpenSpiel's running score, without its bonus and what it paid in excess."""
        points = [int(points) for points in self.state.returns()]
        if self.state.is_terminal():
            points[self.winner()] -= BONUS
            points[1 - self.winner()] += BONUS
        return points[0] - self.extra[0], points[1] - self.extra[1]

    @property
    def cut_short(self) -> bool:
        """Whether OpenSpiel has only stopped for what it paid in excess."""
        return self.state.is_terminal() and max(self.points()) < 121

    def compare_scores(self) -> None:
        """The same points, but for the winner's peg, which stops in the last hole."""
        if self.cut_short:
            return
        one, other = self.points()
        assert (min(one, 121), min(other, 121)) == self.game.scores
        if self.game.is_over:
            assert self.state.is_terminal()
            assert self.winner() == self.game.winner

    def compare_show(self, before: tuple[int, ...]) -> None:
        """All counts of the deal, also those that our game did not come to."""
        suits = {card.suit for card in self.shows[-1][1]}
        if len(suits) == 1 and self.starter.suit not in suits:
            self.extra[self.dealer] += 4
        points = list(before)
        counted = []
        for event in self.game.last_events:
            points[event.seat] += event.worth
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
            points[before_it.to_act] += pegging_score(series).total - paid
        for seat, cards, is_crib in self.shows[len(counted) :]:
            assert self.game.is_over
            points[seat] += show_score(cards, self.starter, is_crib).total
        assert self.points() == tuple(points)
        if not self.game.is_over:
            assert self.game.scores == tuple(points)


def replay(seed: int) -> Replay:
    game = Game(seed=seed, dealer=0)  # OpenSpiel's first dealer is seat 0
    both = Replay(game, random.Random(seed))
    both.run()
    return both


def replay_many(games: int) -> None:
    finished = wrong = flushes = decisions = passes = 0
    for seed in range(games):
        both = replay(seed)
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
    assert 0.03 * finished < wrong < 0.08 * finished


def test_some_games_move_by_move() -> None:
    replay_many(300)


@pytest.mark.slow
def test_twenty_thousand_games_move_by_move() -> None:
    replay_many(20_000)


# The known faults, one case each


def spiel_deal(
    hands: tuple[str, str], thrown: tuple[str, str], starter: str, plays: str
) -> tuple[pyspiel.State, Game, list[int]]:
    """The first deal, dealt by seat 0, on both sides; also who had to pass, in order."""
    both = [parse_cards(hand) for hand in hands]
    game = Game(deck=deck_for(dict(enumerate(both)), 0, starter), dealer=0)
    state = SPIEL.new_initial_state()
    for card in (*both[0], *both[1]):
        state.apply_action(THEIRS[card])
    throws = [sorted(parse_cards(cards)) for cards in thrown]
    for throw in throws:
        state.apply_action(pair_action(*throw))
    for card in (*throws[1], *throws[0]):
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
    ("seed", "ours", "theirs"),
    [(17, (118, 121), (125, 121)), (26, (117, 121), (125, 124)), (87, (114, 121), (124, 123))],
)
def test_it_counts_on_past_the_target(
    seed: int, ours: tuple[int, int], theirs: tuple[int, int]
) -> None:
    """Pone reaches 121 with his hand; OpenSpiel counts the dealer's too and lets seat 0 win."""
    both = replay(seed)
    assert both.game.dealer == 0
    assert both.game.scores == ours
    assert both.game.winner == 1
    assert both.game.last_events[-2].kind == EventKind.HAND
    assert both.state.returns() == [theirs[0] + BONUS, theirs[1] - BONUS]
    assert both.winner() == 0


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
