"""`cosim calibrate`: known numbers of hosts are found again, and logs as users paste them."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from bridge.batch import measured_tables, nccl_programs, nccl_tests
from bridge.batch.calibrate import both_halves, calibrate, findings, read_log, scenario_of
from bridge.cli.main import main
from bridge.errors import InputError
from bridge.simulator.simulate import run
from frontend.loading.load import Content, load_scenario

ISSUE_US = 30.0
TRUE: dict[str, float | str] = {
    "issue": f"{ISSUE_US}us", "step": 1.5, "scale_up": 0.9, "scale_out": 0.8
}  # fmt: skip
SIZES = [2**exponent for exponent in range(13, 33)]
HOSTS = 2


def device_lines() -> list[str]:
    return [
        f"#  Rank {rank:2} Group  0 Pid  {47689 + rank} on      gpu{rank // 8} device  {rank % 8} "
        f"[0x{rank % 8:02x}] NVIDIA A100-SXM4-80GB"
        for rank in range(8 * HOSTS)
    ]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Return what nccl-tests would print on two servers whose hosts have the numbers `TRUE`."""
    file = tmp_path / "all_reduce.log"
    lines = ["# Collective test starting: all_reduce_perf", *device_lines()]
    rows = [f"{size} {size // 4} float sum -1 1.0 1.00 1.00" for size in (8, 16)]
    file.write_text("\n".join([*lines, *rows]))
    content = Content(scenario_of(read_log(file)), "", {})
    test = nccl_tests.Test("all_reduce_perf", algorithm="nccl", host=TRUE)
    _, points = test.points(content, (), SIZES)
    for size, count, point in points:
        time = run(point.scenario).time_ns / 1e3
        lines.append(f"{size} {count} float sum -1 {time:.2f} 1.00 1.00 0 {time:.2f} 1.00 1.00 0")
    file.write_text("\n".join([*lines, "# Avg bus bandwidth    : 1", "NCCL INFO done"]))
    return file


def test_the_cluster_is_what_the_log_tells(log: Path) -> None:
    topology = scenario_of(read_log(log))["topology"]
    assert topology["servers"] == HOSTS
    assert topology["server"] == {"model": "dgx_a100", "gpus": 8, "nics": 8}


def test_half_of_the_sizes_tell_the_others(log: Path) -> None:
    read = read_log(log)
    fit = calibrate([(Content(scenario_of(read), "", {}), read)])
    assert not set(read.fitted) & set(read.predicted)
    errors = [abs(fit.times[log, size] / read.times[size] - 1) for size in read.predicted]
    assert max(errors) < 0.05
    issue = str(fit.factors["issue"]).removesuffix("us")
    assert float(issue) == pytest.approx(ISSUE_US, rel=0.05)
    assert fit.factors["scale_out"] == pytest.approx(TRUE["scale_out"], rel=0.05)


def test_each_half_tells_the_other(log: Path) -> None:
    read = read_log(log)
    first, second = both_halves([(Content(scenario_of(read), "", {}), read)])
    times = {**first.times, **second.times}
    assert {size for _, size in times} == set(read.times)
    assert max(abs(times[log, size] / time - 1) for size, time in read.times.items()) < 0.05
    answer = CliRunner().invoke(main, ["calibrate", str(log), "--both"])
    assert answer.exit_code == 0, answer.output
    assert f"of {len(SIZES)} sizes" in answer.stdout
    assert answer.stdout.count("nccl: {issue: ") == 2


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        (("0.00us", 1.05, 0.95, 1.0), "as NCCL's model expects"),
        (("0.00us", 1.0, 1.0, 0.5), "NICs reach 50% of their rate"),
        (("80.00us", 1.0, 0.4, 1.0), "inside; not the network: NICs reach their rate"),
        (
            ("80.00us", 4.3, 1.0, 1.0),
            "an operation takes 80 µs more; a step takes 4.3 times as long",
        ),
    ],
)
def test_what_deviates_is_said_in_words(numbers: tuple[str | float, ...], expected: str) -> None:
    text = findings(dict(zip(nccl_tests.HOST_NUMBERS, numbers, strict=True)))
    assert expected in text
    assert ("not the network" in text) == ("not the network" in expected)


def test_a_thread_of_several_gpus_launches_them_one_after_the_other(log: Path) -> None:
    log.write_text("# nThread 1 nGpus 8 minBytes 8192 maxBytes 1\n" + log.read_text())
    read = read_log(log)
    assert read.gpus_per_thread == 8
    fit = calibrate([(Content(scenario_of(read), "", {}), read)])
    assert min(fit.times.values()) >= 8 * nccl_programs.LAUNCH_US


def test_the_command_writes_a_scenario_with_the_numbers(log: Path, tmp_path: Path) -> None:
    out = tmp_path / "calibrated.yaml"
    answer = CliRunner().invoke(main, ["calibrate", str(log), "-o", str(out)])
    assert answer.exit_code == 0, answer.output
    assert "mean error" in answer.stdout
    workload = load_scenario(out).only_work.workload.model_dump()
    issue = workload["nccl"]["issue"].removesuffix("us")
    assert float(issue) == pytest.approx(ISSUE_US, rel=0.05)


def test_a_log_without_its_gpus_needs_a_cluster(tmp_path: Path) -> None:
    file = tmp_path / "bare.log"
    file.write_text("1024 16 float none -1 10.0 1.00 1.00\n2048 32 float none -1 10.0 1.00 1.00\n")
    with pytest.raises(InputError, match="--program"):
        read_log(file)
    with pytest.raises(InputError, match="--scenario"):
        scenario_of(read_log(file, "all_reduce_perf"))


def test_a_listing_with_gaps_and_no_program_is_read(tmp_path: Path) -> None:
    """As oracle-quickstart/oci-hpc-oke prints two servers, docs/running-nccl-rccl-tests-…"""
    log = tmp_path / "pasted.log"
    some = [line for rank, line in enumerate(device_lines()) if rank in (0, 7, 8, 15)]
    rows = [
        f"{size} {size // 4} float sum -1 {time} 1.00 1.00"
        for size, time in ((1024, 20), (2048, 21))
    ]
    bare = [line.removeprefix("#") for line in some]  # as some pages show the lines
    log.write_text("\n".join([*bare, *rows]))
    read = read_log(log)
    assert read.program == "all_reduce_perf"
    assert read.hosts == ("gpu0",) * 8 + ("gpu1",) * 8
    assert scenario_of(read)["topology"]["servers"] == HOSTS


@pytest.mark.parametrize(
    ("columns", "program"),
    [
        ("256 float sum -1", "all_reduce_perf"),
        ("256 float sum 0", "reduce_perf"),
        ("256 float none 0", "broadcast_perf"),
        ("16 float sum -1", "reduce_scatter_perf"),
        ("16 float none -1", ""),
        ("256 float sum", "all_reduce_perf"),
        ("16 float", ""),
    ],
)
def test_the_columns_tell_most_programs(columns: str, program: str) -> None:
    assert measured_tables.program_of([f"1024 {columns} 20.0 0.1 0.1"], 16) == program


@pytest.mark.parametrize(
    ("gpu", "expected"),
    [
        ("NVIDIA H100 PCIe", None),
        ("NVIDIA A100 80GB PCIe", None),
        ("NVIDIA H200", ("hgx_h200", 2)),
        ("NVIDIA GB200", ("gb200_nvl72", 1)),
    ],
)
def test_cards_have_no_preset_and_racks_are_one_server(
    log: Path, gpu: str, expected: tuple[str, int] | None
) -> None:
    log.write_text(log.read_text().replace("NVIDIA A100-SXM4-80GB", gpu))
    if expected is None:
        with pytest.raises(InputError, match="--scenario FILE"):
            scenario_of(read_log(log))
        return
    topology = scenario_of(read_log(log))["topology"]
    assert (topology["server"]["model"], topology["servers"]) == expected
