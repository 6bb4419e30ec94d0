"""The study of measured collectives: its rows, its blind rows, and errors that must not grow."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from statistics import mean

import pytest
from click.testing import CliRunner

import bridge
from bridge.batch.scenario_file import scenario_yaml
from bridge.cli.main import main
from bridge.studies.framework import Statement
from bridge.studies.measured_collectives import calibrated as calibrated_module
from bridge.studies.measured_collectives.blind import BLIND
from bridge.studies.measured_collectives.calibrated import calibrated, case_of
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
    texts = [one.text for one in statements]
    # All rows and three parts by size, with nothing fitted, numbers of stacks, and other rows; the
    # blind rows of SHARP in two of them and as predicted today; NVLS; SHARP on and off.
    assert len(texts) == len(set(texts)) == 18
    assert all(one.holds for one in statements if "fit other rows" in one.text)


def test_every_row_has_numbers_that_have_not_seen_it() -> None:
    """Each half of the A100's sizes is predicted by the other; a single size has none."""
    own = [row for row in rows() if row.group in ("a100", "h200")]
    (table,) = calibrated(own)
    assert list(table.errors) == sorted(table.rows, key=lambda row: row.bytes)
    plain = {row: bridge.run(load_scenario(row.scenario())).time_ns / 1e3 for row in table.rows}
    without = mean(abs(plain[row] / row.measured_us - 1) for row in plain if row.measured_us)
    assert mean(map(abs, table.errors.values())) < min(0.12, without / 2)
    # What is predicted changes neither its numbers nor its time.
    half = table.rows[1::2]
    changed = [replace(row, measured_us=1.0) if row in half else row for row in own]
    again = calibrated(changed)[0]
    assert again.numbers[0] == table.numbers[0]
    assert again.numbers[1] != table.numbers[1]
    assert [again.times[row] for row in again.rows[1::2]] == [table.times[row] for row in half]


def test_a_large_table_has_the_numbers_of_fewer_servers(monkeypatch) -> None:
    monkeypatch.setattr(calibrated_module, "MOST_GPUS", 16)
    own = [row for row in rows() if (row.group, row.operation) == ("p5", "all_to_all")]
    small, large = calibrated([row for row in own if row.servers in (2, 4)])
    assert (small.rows[0].servers, large.rows[0].servers) == (2, 4)
    assert large.source == small.rows
    assert list(large.numbers) == [small.numbers[0]]


def test_a_log_of_a_table_is_calibrated_alike(tmp_path: Path) -> None:
    """`cosim calibrate --both` on what nccl-tests printed has the times of the page."""
    (table,) = calibrated([row for row in rows() if row.group == "h100-dgx"])
    (tmp_path / "cluster.yaml").write_bytes(scenario_yaml(case_of(table.rows)[0].data))
    log = tmp_path / "all_reduce.log"
    lines = [
        f"{row.bytes} {row.bytes // 4} float sum -1 {row.measured_us} 1.0 1.0 0"
        for row in table.rows
    ]
    log.write_text("\n".join(["# all_reduce_perf", "# nThread 1 nGpus 1 minBytes 1", *lines]))
    command = ["calibrate", str(log), "--both", "--scenario", str(tmp_path / "cluster.yaml")]
    answer = CliRunner().invoke(main, command)
    assert answer.exit_code == 0, answer.output
    found = [line.split() for line in answer.stdout.splitlines() if not line.startswith("#")]
    printed = {int(words[0]): words[2] for words in found if words[0].isdigit()}
    assert printed == {row.bytes: f"{table.times[row]:.5g}" for row in table.rows}


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
    found = {(row.program, row.network) for row in rows()}
    assert {
        ("PyTorch", "one server"),
        ("nccl-tests", "one server"),
        ("nccl-tests", "TCPXO"),
    } < found
    assert {row.program for row in rows() if row.group == "a100"} == {""}  # a thread of 8 GPUs


def test_halves_of_a_stack_come_from_tables_that_share_them() -> None:
    """PyTorch over EFA: its time to issue from one server, the steps from nccl-tests over EFA."""
    groups = ("p6-b200-torch", "h200-nvls", "p5-no-tuner")
    own = [row for row in rows() if row.group in groups and row.bytes < 2**33]
    found = {one.rows[0].group: one for one in borrowed(own, ())}
    torch = found["p6-b200-torch"]
    assert [one[0].group for one in torch.sources] == ["h200-nvls", "p5-no-tuner"]
    assert set(torch.numbers) == {"issue", "step"}
    assert torch.numbers["step"] != found["p5-no-tuner"].numbers["step"]
    changed = [replace(row, measured_us=1.0) if row.group == "h200-nvls" else row for row in own]
    again = {one.rows[0].group: one for one in borrowed(changed, ())}["p6-b200-torch"]
    assert again.numbers["step"] == torch.numbers["step"]
    assert again.numbers["issue"] != torch.numbers["issue"]
