"""The study of measured collectives: its rows, its blind rows, and errors that must not grow."""

from __future__ import annotations

from dataclasses import replace
from statistics import mean

import pytest

import bridge
from bridge.studies.framework import Statement
from bridge.studies.measured_collectives.blind import BLIND
from bridge.studies.measured_collectives.calibrated import tables
from bridge.studies.measured_collectives.machines import GROUPS, rows
from bridge.studies.measured_collectives.stacks import borrowed
from bridge.studies.measured_collectives.tables import blind, evaluate, study_points
from frontend import load_scenario
from frontend.resolve import resolve


def test_every_row_is_a_scenario_of_its_machine() -> None:
    for row in rows():
        assert row.gpus % row.servers == 0
        assert (row.measured_us or 0) > 0
        assert row.group in GROUPS
        assert row.source
    for row in {(one.group, one.gpus, one.operation): one for one in rows()}.values():
        assert resolve(load_scenario(row.scenario())).ranks == row.gpus


def test_blind_rows_have_a_prediction_and_keep_it() -> None:
    stored = blind()
    assert set(stored) == {row.name for row in BLIND}
    assert stored["p5 32x8 all_to_all 33554432"] == pytest.approx(7590.8)  # the miss stays


def test_large_sizes_over_wires_are_met() -> None:
    """Rings in one server, over InfiniBand and on the p5en: nothing is fitted to them."""
    groups = ("h200", "b200", "a100-2x4-ring", "p5en-ring")
    errors = {}
    for row in rows():
        if row.group in groups and row.measured_us is not None:
            time = bridge.run(load_scenario(row.scenario())).time_ns / 1e3
            errors[row.name] = abs(time / row.measured_us - 1)
    assert mean(errors.values()) < 0.025
    assert max(errors.values()) < 0.065


def test_switches_that_reduce_are_met_from_16_mebibytes_on() -> None:
    """One DGX H100: NCCL's own numbers, and nothing fitted."""
    found = [one for one in rows() if one.group == "h100-dgx" and one.bytes >= 2**24]
    assert len(found) == 11
    for row in found:
        time = bridge.run(load_scenario(row.scenario())).time_ns / 1e3
        assert time == pytest.approx(row.measured_us, rel=0.031)


def test_trees_of_chunks_are_met_from_8_mebibytes_on() -> None:
    """Two a3_mega with Simple: NCCL's chunks, one after another at the rate of a channel."""
    found = [one for one in rows() if one.group == "a3-mega-simple" and one.bytes >= 2**23]
    assert len(found) == 11
    for row in found:
        time = bridge.run(load_scenario(row.scenario())).time_ns / 1e3
        assert time == pytest.approx(row.measured_us, rel=0.13)


def test_rings_with_simple_wait_for_their_buffers() -> None:
    """All-gathers on the p5 from where AWS's tuner takes Simple: 19 to 37 % faster without."""
    found = [
        one
        for one in rows()
        if (one.group, one.operation) == ("p5", "all_gather")
        and 2**27 * one.servers < 2 * one.bytes <= 2**29 * one.servers
        and one.servers in (2, 4)
    ]
    assert len(found) == 4
    for row in found:
        time = bridge.run(load_scenario(row.scenario())).time_ns / 1e3
        assert time == pytest.approx(row.measured_us, rel=0.08)


def test_processors_post_the_messages_of_an_all_to_all() -> None:
    """128 GPUs of the p5 send 120 blocks of two messages, a send and a receive of 2 µs each."""
    (row,) = [one for one in rows() if one.name == "p5 16x8 all_to_all 33554432"]
    time = bridge.run(load_scenario(row.scenario())).time_ns / 1e3
    assert time > 120 * 2 * 4
    assert time == pytest.approx(row.measured_us, rel=0.13)


def test_the_small_scale_states_its_errors(scenarios) -> None:
    points = study_points(scenarios, "small")
    results = {key: bridge.run(point.scenario) for key, point in points.items()}
    statements = [one for one in evaluate(results, "small") if isinstance(one, Statement)]
    # All rows and three parts by size, with and without numbers of stacks; NVLS, and half of the
    # sizes with and without a fit.
    assert len(statements) == 11


def test_half_of_the_sizes_are_fitted_and_the_others_scored() -> None:
    """The A100 has a table of 20 sizes; those of the other machines are too short for a fit."""
    own = [row for row in rows() if row.group in ("a100", "spark", "oke-a100")]
    (table,) = tables(own, ())
    sizes = sorted(row.bytes for row in own if row.group == "a100")
    assert [row.bytes for row in table.scored] == sizes[1::2]
    plain = {row: bridge.run(load_scenario(row.scenario())).time_ns / 1e3 for row in table.scored}
    without = mean(abs(plain[row] / row.measured_us - 1) for row in plain if row.measured_us)
    assert mean(map(abs, table.scored.values())) < min(0.2, without)
    # What is scored does not change the fit.
    changed = [replace(row, measured_us=1.0) if row in table.scored else row for row in own]
    assert tables(changed, ())[0].fit.factors == table.fit.factors
    assert tables(own, {table.rows[3].name}) == []


def test_numbers_of_a_stack_come_from_other_tables() -> None:
    """Rows that are predicted do not change their numbers, and a stack of one table has none."""
    own = [row for row in rows() if row.group in ("a3-mega", "a3-mega-simple", "a3-high")]
    gathers, reduces = borrowed(own, ())
    assert [gathers.rows[0].group, reduces.rows[0].group] == ["a3-mega", "a3-mega-simple"]
    assert gathers.sources == [reduces.rows]
    assert reduces.sources == [gathers.rows]
    plain = {row: bridge.run(load_scenario(row.scenario())).time_ns / 1e3 for row in gathers.rows}
    without = mean(abs(plain[row] / row.measured_us - 1) for row in plain if row.measured_us)
    assert mean(map(abs, gathers.errors.values())) < without / 2
    changed = [replace(row, measured_us=1.0) if row in gathers.rows else row for row in own]
    assert borrowed(changed, ())[0].numbers == gathers.numbers
    assert borrowed(changed, ())[1].numbers != reduces.numbers
    assert borrowed(own, {reduces.rows[0].name}) == []


def test_a_stack_is_a_program_and_a_network() -> None:
    found = {row.stack: row for row in rows()}
    assert {"PyTorch, one server", "nccl-tests, one server", "nccl-tests, TCPXO"} <= set(found)
    assert {row.servers for row in rows() if row.stack == "nccl-tests, one server"} == {1}
    assert {row.stack for row in rows() if row.group in ("a100", "p6-b200", "spark")} == {""}
