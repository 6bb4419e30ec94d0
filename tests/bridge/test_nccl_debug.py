"""What NCCL says of itself in a log, for `cosim calibrate`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from bridge.batch import nccl_tests
from bridge.batch.nccl_debug import read_debug
from bridge.cli.main import main
from bridge.simulator.simulate import run
from frontend import load_scenario
from frontend.formats.nccl_server import on_rails
from frontend.loading.load import Content

RANKS = 16
HEAD = "node-1:71:71 [0] NCCL INFO "


@pytest.mark.parametrize(
    ("lines", "options"),
    [
        (["NCCL version 2.21.5+cuda12.4"], {"version": "2.21"}),
        (["NCCL version 2.8.4+cuda10.1"], {"version": "2.18"}),
        (["# nccl-tests version 2.17.8 nccl-headers=23004 nccl-library=22304"],
         {"version": "2.23"}),
        ([f"{HEAD}NCCL_ALGO set by environment to Ring,nvlstree"],
         {"algorithms": ["ring", "nvls_tree"]}),
        ([f"{HEAD}NCCL_ALGO set by environment to ^NVLS,NVLSTree"],
         {"algorithms": ["tree", "ring", "collnet_direct", "collnet_chain", "pat"]}),
        ([f"{HEAD}NCCL_PROTO set by environment to ^LL128;allreduce:LL128"],
         {"protocols": ["LL128"]}),
        ([f"{HEAD}NCCL_PROTO set by environment to LL;allgather:Simple"], {"protocols": ["LL"]}),
        ([f"{HEAD}NCCL_NVLS_ENABLE set by environment to 0."],
         {"algorithms": ["tree", "ring", "collnet_direct", "collnet_chain", "pat"]}),
        ([f"{HEAD}NCCL_NVLS_ENABLE set by environment to 1."], {}),
        ([f"{HEAD}NCCL_BUFFSIZE set by environment to 8388608.", "NCCL INFO version"], {}),
    ],
)  # fmt: skip
def test_the_options_that_a_log_tells(lines: list[str], options: dict[str, object]) -> None:
    assert read_debug("\n".join(lines)).options("all_reduce_perf") == options


def test_variables_without_an_option_are_named() -> None:
    names = ("NCCL_BUFFSIZE", "NCCL_ALGO", "NCCL_DEBUG_SUBSYS", "NCCL_MAX_NCHANNELS")
    said = read_debug("\n".join(f"{HEAD}{name} set by environment to 4." for name in names))
    assert said.unused() == ["NCCL_BUFFSIZE", "NCCL_MAX_NCHANNELS"]


@pytest.mark.parametrize(
    ("version", "line", "size"),
    [
        ("2.21.5", "1048576 Bytes -> Algo 1 proto 0 time 47.6", 1048576),
        ("2.23.4", "AllGather: 1048576 Bytes -> Algo 1 proto 0 time 47.6", 1048576),
        ("2.27.5", "AllGather: 65536 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..3}", 1048576),
        ("2.27.5", "AllReduce: 65536 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..3}", None),
    ],
)
def test_the_choices_of_a_log(version: str, line: str, size: int | None) -> None:
    """From 2.24 on, the bytes are those of a block."""
    said = read_debug(f"{HEAD}NCCL version {version}+cuda12.4\n{HEAD}{line}\n")
    chosen = said.chosen("all_gather_perf", RANKS)
    assert chosen == ({} if size is None else {size: "Algo RING proto LL"})


def test_a_log_with_its_choices_is_predicted_with_them(tmp_path: Path) -> None:
    """NCCL 2.19 with trees alone on servers of AWS, as the simulator has it, with other hosts."""
    given = {"version": "2.19", "algorithms": ["tree"]}
    cluster = {**on_rails("aws", {"model": "p4d"}, 2), "collective": {"nccl": given}}
    test = nccl_tests.Test("all_reduce_perf", algorithm="nccl", host={"issue": "12us"})
    _, points = test.points(Content(cluster, "", {}), (), [2**n for n in range(14, 28)])
    lines = [
        f"#  Rank {rank:2} Group  0 Pid  {rank} on  node{rank // 8} device  {rank % 8} [0x0] "
        "NVIDIA A100-SXM4-40GB"
        for rank in range(RANKS)
    ]
    lines += ["NCCL version 2.19.4+cuda12.2", f"{HEAD}Using network AWS Libfabric"]
    lines += [f"{HEAD}NCCL_ALGO set by environment to Tree"]
    for size, count, point in points:
        result = run(point.scenario)
        choice = (result.collectives[0].choice or "").split(",")[0]
        protocol = ["LL", "LL128", "SIMPLE"].index(choice.split()[-1])
        lines += [f"{HEAD}{size} Bytes -> Algo 0 proto {protocol} time 1.0"]
        lines += [f"{size} {count} float sum -1 {result.time_ns / 1e3:.2f} 1.00 1.00 0"]
    log, out = tmp_path / "trees.log", tmp_path / "trees.yaml"
    log.write_text("\n".join(lines))
    answer = CliRunner().invoke(main, ["calibrate", str(log), "--both", "-o", str(out)])
    assert answer.exit_code == 0, answer.output
    assert "# the log says: algorithms tree; version 2.19\n" in answer.stdout
    assert f"# NCCL chose as predicted for {len(points)} of {len(points)} sizes" in answer.stdout
    made = load_scenario(out).resolved()
    assert made["topology"]["server"]["model"] == "p4d"
    nccl = made["workload"]["nccl"]
    assert {key: nccl[key] for key in given} == given
    error = re.search(r"^# mean error (.*) %", answer.stdout, re.MULTILINE)
    assert error is not None
    assert float(error[1]) < 5  # 13 without the lines of NCCL
