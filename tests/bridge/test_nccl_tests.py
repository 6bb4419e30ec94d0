"""`cosim nccl-tests`: sizes and bandwidths as nccl-tests has them, times from the simulator."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.batch.measured_tables import read_table
from bridge.batch.nccl_programs import LAUNCH_US, PROGRAMS
from bridge.batch.nccl_tests import sizes
from bridge.errors import InputError
from tests.bridge.command_line import answer_of, invoke

HEADER_BYTES = 42  # PPP 2, IP 20, TCP 20
RANKS, RATE_GB_S, LATENCY_US = 4, 50, 0.5
CLUSTER = f"""
name: cluster
topology:
  family: flat
  ranks: {RANKS}
  bandwidth: {8 * RATE_GB_S}Gbps
  latency: {LATENCY_US}us
  buffer: unlimited
system:
  injection_latency: 0ns
transport:
  window: unlimited
links:
  mtu: unlimited
"""


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    file = tmp_path / "cluster.yaml"
    file.write_text(CLUSTER)
    return file


def test_counts_are_those_of_nccl_tests() -> None:
    # The table of nccl-tests has 1048576 elements for an all-gather of 32 MiB over 8 ranks.
    assert PROGRAMS["all_gather_perf"].elements(2**25, 8, 4) == (2**20, 2**25)
    assert PROGRAMS["all_reduce_perf"].elements(2**25, 8, 4) == (2**23, 2**25)
    # A block is a multiple of 16 bytes: none for 64 bytes over 8 ranks.
    assert PROGRAMS["alltoall_perf"].elements(64, 8, 4) == (0, 0)


@given(
    st.sampled_from(list(PROGRAMS)),
    st.integers(1, 2**40),
    st.integers(2, 4096),
    st.sampled_from([1, 2, 4, 8]),
)
def test_a_program_rounds_down_by_less_than_a_block(
    name: str, size: int, ranks: int, element: int
) -> None:
    count, whole = PROGRAMS[name].elements(size, ranks, element)
    blocks = ranks if PROGRAMS[name].in_blocks else 1
    assert count * element * blocks == whole <= size < whole + blocks * (16 + element)


def test_sizes() -> None:
    assert list(sizes(8, 64, 2, 1)) == [8, 16, 32, 64]
    assert list(sizes(8, 20, 1, 5)) == [8, 13, 18]
    with pytest.raises(InputError, match="at most 1000 sizes"):
        list(sizes(1, 2**30, 1, 1))


def test_ring_takes_the_time_of_its_steps(cluster: Path) -> None:
    size = 2**20
    answer = answer_of("nccl-tests all_reduce_perf", cluster, "-b 1M -e 1M --algorithm ring")
    [row] = answer["rows"]
    # 2 (N-1) steps: a packet of D/N bytes and its header is stored by the switch, so it passes two
    # links in turn.
    step_us = 2 * ((size / RANKS + HEADER_BYTES) / RATE_GB_S / 1e3 + LATENCY_US)
    assert row["time_us"] == pytest.approx(2 * (RANKS - 1) * step_us, rel=1e-9)
    assert row["algbw"] == pytest.approx(size / row["time_us"] / 1e3)
    # doc/PERFORMANCE.md of nccl-tests: the factor of an all-reduce is 2 (n-1) / n.
    assert row["busbw"] == pytest.approx(row["algbw"] * 2 * 3 / 4)
    assert row["algorithm"] == "ring"


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("fabric", ["analytical", "express"])
def test_no_bus_is_faster_than_the_link(cluster: Path, program: str, fabric: str) -> None:
    limits = "--set links.mtu=9000B --set transport.window=4MB"
    answer = answer_of(
        f"nccl-tests {program}", cluster, f"-b 1K -e 1M -f 1024 --fabric {fabric} {limits}"
    )
    assert answer["ranks"] == RANKS
    assert [row["size"] for row in answer["rows"]] == [2**10, 2**20]
    small, large = (row["busbw"] for row in answer["rows"])
    assert 0 < small < large < RATE_GB_S
    assert answer["average_busbw"] == pytest.approx((small + large) / 2)


def test_sendrecv_fills_the_link(cluster: Path) -> None:
    more = "--set links.mtu=9000B --fabric flow"
    [row] = answer_of("nccl-tests sendrecv_perf", cluster, f"-b 1G -e 1G {more}")["rows"]
    # Packets of 9000 bytes have headers, and nothing else is missing.
    assert 0.98 * RATE_GB_S < row["busbw"] < RATE_GB_S


def test_sendrecv_by_nccl_takes_its_steps(cluster: Path) -> None:
    times = [
        answer_of("nccl-tests sendrecv_perf", cluster, f"-b 1M -e 1M --algorithm {name}")["rows"]
        for name in ("direct", "nccl")
    ]
    assert [row["algorithm"] for [row] in times] == ["direct", "nccl"]
    direct, nccl = (row["time_us"] for [row] in times)
    assert nccl > direct + 5  # its launch and a step, beyond the network


def test_all_forms_have_the_same_rows(cluster: Path, tmp_path: Path) -> None:
    words = "reduce_scatter_perf", cluster, "-b 64 -e 4K -f 8 -d half"
    table, data = tmp_path / "table.csv", tmp_path / "table.json"
    printed = invoke("nccl-tests", *words, "-o", table).stdout
    invoke("nccl-tests", *words, "-o", data)
    rows = json.loads(data.read_text())["rows"]
    assert [row["count"] for row in rows] == [8, 64, 512]
    assert {row["redop"] for row in rows} == {"sum"}
    with table.open() as stream:
        for row, other in zip(rows, csv.DictReader(stream), strict=True):
            assert {key: str(value) for key, value in row.items()} == other
    lines = [line.split() for line in printed.splitlines() if not line.startswith("#")]
    for row, line in zip(rows, lines, strict=True):
        assert line[:5] == [str(row["size"]), str(row["count"]), "half", "sum", "-1"]
        assert float(line[5]) == pytest.approx(row["time_us"], abs=0.005)
        assert float(line[7]) == pytest.approx(row["busbw"], abs=0.005)


def test_the_algorithm_of_the_scenario_is_used(cluster: Path) -> None:
    own = "--set collective.all_reduce=halving_doubling --set collective.all_gather=direct"
    reduced = answer_of("nccl-tests all_reduce_perf", cluster, own, "-b 1K -e 1K")
    gathered = answer_of("nccl-tests all_gather_perf", cluster, own, "-b 1K -e 1K")
    assert reduced["rows"][0]["algorithm"] == "halving_doubling"
    assert gathered["rows"][0]["algorithm"] == "direct"


LOG = """\
node0:71:71 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>
# nThread 1 nGpus 1 minBytes 1024 maxBytes 4096 step: 2(factor) warmup iters: 5 iters: 20
#
#                                                              out-of-place                in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)
        1024           256     float     sum      -1    20.00    0.05    0.08      0    19.90
        2048           512     float     sum      -1    21.00    0.10    0.15    N/A    20.90
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 0.115
"""


def test_a_table_is_compared_with_its_measurement(cluster: Path, tmp_path: Path) -> None:
    log = tmp_path / "measured.log"
    log.write_text(LOG)
    assert read_table(log).times == {1024: 20, 2048: 21}
    rows = answer_of("nccl-tests all_reduce_perf", cluster, f"--measured {log}")["rows"]
    assert [row["measured_us"] for row in rows] == [20, 21]
    for row in rows:
        assert row["error"] == pytest.approx(row["time_us"] / row["measured_us"] - 1)


def test_a_table_of_its_own_has_no_error(cluster: Path, tmp_path: Path) -> None:
    log = tmp_path / "own.log"
    words = "nccl-tests alltoall_perf", cluster
    log.write_text(invoke(*words, "-b 1K -e 16M -f 16").stdout)
    rows = answer_of(*words, f"--measured {log}")["rows"]
    assert [row["size"] for row in rows] == [2**10, 2**14, 2**18, 2**22]
    # The table has two decimals.
    assert all(abs(row["error"]) * row["measured_us"] <= 0.006 for row in rows)
    [line] = [
        line.split()
        for line in invoke(*words, f"--measured {log}").stdout.splitlines()
        if line.lstrip().startswith("1024 ")
    ]
    assert line[8:10] == [line[5], f"{100 * rows[0]['error']:+.1f}%"]


def test_a_thread_launches_its_gpus_one_after_the_other(cluster: Path) -> None:
    words = "-b 1K -e 64M -f 65536 --algorithm ring"
    small, large = answer_of("nccl-tests all_reduce_perf", cluster, words)["rows"]
    slow, same = answer_of("nccl-tests all_reduce_perf", cluster, words + " -g 4")["rows"]
    assert slow["time_us"] == max(small["time_us"], 4 * LAUNCH_US)
    assert same["time_us"] == large["time_us"] > 4 * LAUNCH_US


@pytest.mark.parametrize(
    ("lines", "times"),
    [
        ("0:  1024  256  float  sum  -1  165.0  0.01  0.01  0  164.8", {1024: 165.0}),
        ("[1,0]<stdout>:  1024  256  float  sum  -1  16.43  0.06  0.11  0", {1024: 16.43}),
        ("2026-02-16T10:00:03.0Z  65536  16384  float  sum  -1  58.16  1.13  2.18", {65536: 58.16}),
        ("1024 256 float sum 24942 0.10 0.10 0e+00 24900 0.10 0.10 0e+00", {1024: 24942.0}),
        ("1024 256 float 33 0.1 0.1 0e+00", {1024: 33.0}),
        ("1024 256 float 3 2040 0.1 0.1 0e+00", {1024: 2040.0}),
        ("[0]  1024  256  float  sum  -1[0]  1626  0.64  1.24  0[0]  2302  0.46  0.87  0",
         {1024: 1626.0}),
    ],
)  # fmt: skip
def test_logs_as_launchers_and_old_versions_print_them(
    tmp_path: Path, lines: str, times: dict[int, float]
) -> None:
    log = tmp_path / "printed.log"
    log.write_text(lines)
    assert read_table(log).times == times
