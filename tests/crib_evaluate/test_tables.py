"""The tables: what must be true of them, and that the commands make them again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from crib_agents.heuristic import make_medium
from crib_env import win_probability as W
from crib_env.cli import main
from crib_env.deal_points import DEAL_POINTS_FILE, deal_points
from crib_env.expectation import CRIB_FILES, CRIB_MEANS, read_crib_table
from crib_evaluate.comparison import compare_cribs
from crib_evaluate.deal_points import count_crib_points, count_deal_points
from crib_evaluate.pegging_order import order_of_points
from crib_evaluate.tables import (
    measure_cribs,
    measure_deal_starts,
    measure_win_probability,
    values_before_deal,
)

DATA = Path(__file__).parents[1] / "data"
SCHELL = np.stack([read_crib_table(DATA / f"{whose}_schell.csv") for whose in ("opp", "own")])


def run(*arguments: object) -> int:
    with pytest.raises(SystemExit) as left:
        main(["tables", *map(str, arguments)])
    return int(left.value.code or 0)


def test_crib_means_are_near_the_published_ones() -> None:
    for ours, theirs in zip(CRIB_MEANS, SCHELL, strict=True):
        assert np.array_equal(ours, ours.T)
        found = compare_cribs(ours, theirs)
        assert abs(found.mean) < 0.15
        assert found.deviation < 0.15
        assert found.correlation > 0.99
        assert abs(found.largest[0][1] - found.largest[0][2]) < 0.5


def test_a_crib_is_worth_more_to_him_who_throws_to_his_own() -> None:
    """For his opponent throws what is bad for it."""
    assert CRIB_MEANS[0].mean() - CRIB_MEANS[1].mean() > 0.5
    assert (CRIB_MEANS[0] > CRIB_MEANS[1]).all()


def test_cribs_measured_again_come_near_the_table() -> None:
    few = measure_cribs(samples=200, rounds=2, seed=9)
    assert np.array_equal(few, measure_cribs(samples=200, rounds=2, seed=9))
    for measured, table in zip(few, CRIB_MEANS, strict=True):
        found = compare_cribs(measured, table)
        assert abs(found.mean) < 0.05
        assert found.deviation < 0.25


def test_comparison_by_hand() -> None:
    theirs = np.zeros((13, 13))
    ours = theirs.copy()
    ours[2, 10] = ours[10, 2] = 0.5
    ours[4, 4] = -1.0
    found = compare_cribs(ours, theirs + np.eye(13), largest=2)
    assert found.mean == pytest.approx((0.5 - 1.0 - 13) / 91)
    assert [ranks for ranks, _, _ in found.largest] == ["55", "AA"]
    assert found.largest[0][1:] == (-1.0, 1.0)


def test_win_probability_is_monotone() -> None:
    chances = W.chances_before_deal()
    assert chances.shape == (2, 121, 121)
    assert (np.diff(chances, axis=1) >= 0).all()
    assert (np.diff(chances, axis=2) <= 0).all()
    assert ((chances >= 0) & (chances <= 1)).all()


def test_win_probabilities_of_the_two_sides_sum_to_one() -> None:
    chances = W.chances_before_deal()
    assert chances[1] + chances[0].T == pytest.approx(1, abs=2e-7)


def test_first_dealer_wins_as_often_as_known() -> None:
    assert 0.55 < W.win_probability(0, 0, dealing=True) < 0.57


def test_deal_starts() -> None:
    starts = W.deal_starts()
    assert starts.sum() == pytest.approx(1)
    # One deal in about nine is the first of its game.
    assert starts[0, 0] == pytest.approx(1 / 9.05, abs=0.003)
    # Nobody pegs a hundred points in the first deal, and neither side stays at nothing.
    assert starts[0, 60:].sum() == 0


def test_win_probability_measured_again_comes_near_the_table() -> None:
    few = measure_win_probability(deals=3000, seed=9)
    assert np.array_equal(few, measure_win_probability(deals=3000, seed=9))
    assert few.dtype == np.float32
    assert (np.diff(few, axis=1) >= 0).all()
    assert (np.diff(few, axis=2) <= 0).all()
    assert np.abs(few - W.chances_before_deal()).max() < 0.06


def test_any_player_s_deals_give_the_same_as_compiled_ones() -> None:
    """Medium as a player in batches, and Medium inside the compiled loop."""
    wanted = measure_win_probability(2000, seed=9)
    assert np.array_equal(measure_win_probability(2000, seed=9, player=make_medium()), wanted)


def test_skunks_count_beside_wins() -> None:
    order = order_of_points(make_medium(), 2000, seed=9)
    plain = values_before_deal(order.reached, order.totals)
    with_skunks = values_before_deal(order.reached, order.totals, skunk=0.1)
    assert plain[1] + plain[0].T == pytest.approx(1)
    assert with_skunks[1] + with_skunks[0].T == pytest.approx(1)
    # Where both are past 90 nobody can be skunked.
    assert with_skunks[:, 91:, 91:] == pytest.approx(plain[:, 91:, 91:])
    # The dealer pegs his last point before the pone gets from nothing to anywhere.
    assert with_skunks[1, 120, 30] == pytest.approx(plain[1, 120, 30] + 0.2, abs=0.01)
    assert with_skunks[1, 120, 85] == pytest.approx(plain[1, 120, 85] + 0.1, abs=0.03)
    assert with_skunks[1, 30, 120] == pytest.approx(plain[1, 30, 120] - 0.2, abs=0.01)


def test_command_compares_the_chances_of_a_player(capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--deals", 500, "--games", 10, "--compare")
    assert run("win-probability", *options, "--player", "medium") == 0
    differs = capsys.readouterr().out
    assert "chances differ from those of" in differs
    assert run("win-probability", *options, "--player", "nobody") == 2
    assert "no bot 'nobody'" in capsys.readouterr().err


def test_deal_starts_measured_again_come_near_the_table() -> None:
    few = measure_deal_starts(games=1000, seed=9)
    assert few[0, 0] == 1000
    near_end = W.deal_starts()[80:, 80:].sum()
    assert few[80:, 80:].sum() / few.sum() == pytest.approx(near_end, abs=0.03)


def test_command_writes_cribs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wanted = measure_cribs(samples=50, rounds=1, seed=4)
    assert run("crib", "--samples", 50, "--rounds", 1, "--seed", 4, "--output", tmp_path) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "crib_means_opponent.csv",
        "crib_means_own.csv",
    ]
    for file, table in zip(CRIB_FILES, wanted, strict=True):
        assert read_crib_table(tmp_path / file.name) == pytest.approx(table, abs=0.0006)
    assert "crib_means_own.csv" in capsys.readouterr().out


def test_command_writes_win_probability(tmp_path: Path) -> None:
    assert run("win-probability", "--deals", 500, "--games", 50, "--output", tmp_path) == 0
    (file,) = tmp_path.iterdir()
    assert file.name == W.TABLE_FILE.name
    with np.load(file) as tables:
        assert np.array_equal(tables["chances"], measure_win_probability(500, 0))
        assert tables["deal_starts"][0, 0] == 50


def test_deal_points_agree_with_the_means() -> None:
    """Two tables of the same cribs, made by two commands; and what is known of hands and play."""
    table = deal_points()
    for shares in (table.pegged, table.hand, table.crib):
        assert shares.sum(axis=-1) == pytest.approx(1)
    # The cribs are one round of discards later than the means.
    differences = np.abs(table.crib @ np.arange(30) - CRIB_MEANS)
    assert differences.mean() < 0.04
    assert differences.max() < 0.15
    assert table.hand @ np.arange(30) == pytest.approx([8.1, 7.95], abs=0.15)
    assert table.pegged @ np.arange(40) == pytest.approx([2.1, 3.4], abs=0.4)
    assert (table.crib[..., [19, 25, 26, 27]] == 0).all()  # no cards are worth these
    assert (table.hand[:, [19, 25, 26, 27]] == 0).all()


def test_command_writes_deal_points(tmp_path: Path) -> None:
    wanted = [*count_deal_points(300, seed=2), count_crib_points(20, seed=2)]
    options = ("--deals", 300, "--samples", 20, "--seed", 2)
    assert run("deal-points", *options, "--output", tmp_path) == 0
    (file,) = tmp_path.iterdir()
    assert file.name == DEAL_POINTS_FILE.name
    with np.load(file) as tables:
        for name, counts in zip(("pegged", "hand", "crib"), wanted, strict=True):
            assert np.array_equal(tables[name], counts)
    assert wanted[0].sum(axis=1).tolist() == [300, 300]


def test_command_compares(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("crib", "--compare", DATA / "own_schell.csv", DATA / "opp_schell.csv") == 0
    out = capsys.readouterr().out
    assert "own crib: ours less theirs: mean" in out
    assert "opponent's crib" in out


def test_documented_comparison_is_what_the_command_says(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run("crib", "--compare", DATA / "own_schell.csv", DATA / "opp_schell.csv")
    documented = (Path(__file__).parents[2] / "docs" / "tables.md").read_text()
    assert capsys.readouterr().out in documented
    assert f"first dealer {100 * W.win_probability(0, 0, dealing=True):.1f} %" in documented


@pytest.mark.parametrize(
    "text", ["", "nonsense\n", "A,B\n1,2\n", ",A,2,3,4,5,6,7,8,9,T,J,Q,K\nA,x\n"]
)
def test_command_refuses_a_damaged_table(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damaged = tmp_path / "damaged.csv"
    damaged.write_text(text)
    assert run("crib", "--compare", damaged, DATA / "opp_schell.csv") == 2
    error = capsys.readouterr().err
    assert "damaged.csv is no table of cribs" in error
    assert error.count("\n") == 1


def test_command_refuses_a_folder_that_is_not_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("crib", "--output", tmp_path / "nowhere") == 2
    assert "nowhere" in capsys.readouterr().err
