"""Tables of collectives: logs of OSU micro-benchmarks, and tables that are compared and drawn."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from bridge.batch import nccl_tests
from bridge.batch.calibrate import calibrate, read_log
from bridge.batch.measured_tables import OSU, read_table
from bridge.batch.scenario_file import scenario_yaml
from bridge.cli.main import main
from bridge.present.collective_tables import tables_compared
from bridge.simulator.simulate import run
from frontend import load_scenario
from frontend.formats.nccl_server import on_rails
from frontend.loading.load import Content

RANKS = 4
CLUSTER = on_rails("osu", {"model": "hgx_h100", "gpus": 2, "nics": 2}, 2)

HEADINGS = {
    "4": "# Size       Avg Latency(us)",
    "7": "# Datatype: MPI_CHAR.\n# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  "
    "Iterations",
}


def osu_log(name: str, times: dict[int, float], version: str = "4") -> str:
    """Return what the micro-benchmark prints."""
    more = "  1.0  99.0  1000" if version == "7" else ""
    rows = [f"{size:<12}{time:>16.2f}{more}" for size, time in times.items()]
    lines = ["#Using NCCL", f"# OSU NCCL-CUDA {name} Latency Test v{version}.0", HEADINGS[version]]
    return "\n".join([*lines, *rows, ""])


@pytest.mark.parametrize("version", HEADINGS)
@pytest.mark.parametrize("name", OSU)
def test_a_log_tells_its_operation_and_its_sizes(tmp_path: Path, name: str, version: str) -> None:
    title = "All-to-All Personalized Exchange" if name == "All-to-All" else name
    file = tmp_path / "osu.log"
    file.write_text(osu_log(title, {4: 10.5, 1024: 20.25, 2048: 30.0}, version))
    table = read_table(file)
    assert table.program == OSU[name]
    blocks = name in ("Allgather", "All-to-All", "Gather", "Scatter")
    factor = RANKS if blocks else 1
    whole = {1024 * factor: 20.25, 2048 * factor: 30.0}
    assert table.of_all_data(table.program, RANKS) == ({} if blocks else {4: 10.5}) | whole


def test_tables_of_other_things_are_refused(tmp_path: Path) -> None:
    for title in (
        "OSU MPI-CUDA Bandwidth Test v7.5",
        "OSU MPI Non-blocking Allreduce Latency Test",
    ):
        file = tmp_path / "osu.log"
        file.write_text(f"# {title}\n# Size  Overall(us)  Compute(us)\n1024  10.5  3.0\n")
        answer = CliRunner().invoke(main, ["calibrate", str(file)])
        assert answer.exit_code == 2
        assert "OSU micro-benchmark" in answer.stderr


def test_a_table_of_another_operation_is_refused(tmp_path: Path) -> None:
    log, cluster = tmp_path / "osu.log", tmp_path / "cluster.yaml"
    log.write_text(osu_log("Allgather", {1024: 20.0, 2048: 30.0}))
    cluster.write_text(json.dumps(CLUSTER))
    words = ["nccl-tests", "all_reduce_perf", str(cluster), "--measured", str(log)]
    answer = CliRunner().invoke(main, words)
    assert answer.exit_code == 2
    assert "all_gather_perf" in answer.stderr


def test_half_of_a_log_tells_the_others(tmp_path: Path) -> None:
    """Each rank gathers blocks; the hosts of the log take 12 µs more than the tuner has."""
    true: dict[str, float | str] = {"issue": "12us", "step": 1.4, "scale_out": 0.8}
    test = nccl_tests.Test("all_gather_perf", algorithm="nccl", host=true, by_block=True)
    blocks = [2**exponent for exponent in range(10, 25)]
    ranks, rows = test.points(Content(CLUSTER, "", {}), (), blocks)
    assert [whole for whole, _, _ in rows] == [block * ranks for block in blocks]
    times = [run(point.scenario).time_ns / 1e3 for _, _, point in rows]
    log = tmp_path / "osu.log"
    log.write_text(osu_log("Allgather", dict(zip(blocks, times, strict=True))))
    cluster, out = tmp_path / "cluster.yaml", tmp_path / "out.yaml"
    cluster.write_text(json.dumps(CLUSTER))
    words = ["calibrate", str(log), "--scenario", str(cluster), "-o", str(out)]
    answer = CliRunner().invoke(main, words)
    assert answer.exit_code == 0, answer.output
    workload = load_scenario(out).only_work.workload.model_dump()
    assert workload["bytes"] == f"{blocks[-1] * RANKS}B"
    assert float(workload["nccl"]["issue"].removesuffix("us")) == pytest.approx(12, rel=0.1)
    read = read_log(log)
    fit = calibrate([(Content(CLUSTER, "", {}), read)])
    errors = [abs(fit.times[log, size] / read.times[size] - 1) for size in read.predicted]
    assert max(errors) < 0.05


def test_sizes_of_single_bytes_are_calibrated(tmp_path: Path) -> None:
    """nccl-tests with `-d int8 -b 1` has sizes that hold no element of four bytes."""
    log, cluster = tmp_path / "small.log", tmp_path / "cluster.yaml"
    rows = [f"{size} {size} int8 sum -1 {20 + size / 1e4} 0.1 0.1 0" for size in (1, 2, 4, 2**16)]
    log.write_text("\n".join(["# size count type redop root time algbw busbw #wrong", *rows, ""]))
    cluster.write_text(json.dumps(CLUSTER))
    answer = CliRunner().invoke(main, ["calibrate", str(log), "--scenario", str(cluster)])
    assert answer.exit_code == 0, answer.output


TABLE = """\
# nThread 1 nGpus 1 minBytes 1024
1024 256 float sum -1 {} 1.0 {} 0
2048 512 float sum -1 {} 1.0 {} 0
"""


@pytest.fixture
def tables(tmp_path: Path) -> dict[str, Path]:
    """Return two logs, and the table that `cosim nccl-tests` writes in each of its forms."""
    scenario = tmp_path / "cluster.yaml"
    scenario.write_bytes(scenario_yaml(CLUSTER))
    files = {form: tmp_path / f"simulated.{form}" for form in ("json", "csv", "log")}
    for file in files.values():
        command = ["nccl-tests", "all_reduce_perf", "-b", "1K", "-e", "2K", "-f", "2"]
        answer = CliRunner().invoke(main, [*command, str(scenario), "-o", str(file)])
        assert answer.exit_code == 0, answer.output
    files |= {"first": tmp_path / "first.log", "second": tmp_path / "second.out"}
    files["first"].write_text(TABLE.format(10.0, 1.5, 20.0, 1.75))
    files["second"].write_text(TABLE.format(11.0, 1.25, 19.0, 2.5))
    return files


def test_all_forms_of_a_table_are_read(tables: dict[str, Path]) -> None:
    exact = read_table(tables["json"])
    assert list(exact.times) == list(exact.busbw) == [1024, 2048]
    assert read_table(tables["csv"]) == exact
    log = read_table(tables["log"])
    assert log.times == pytest.approx(exact.times, abs=0.005)
    assert log.busbw == pytest.approx(exact.busbw, abs=0.005)


def test_compare_puts_tables_beside_each_other(tables: dict[str, Path]) -> None:
    first, second = str(tables["first"]), str(tables["second"])
    answer = CliRunner().invoke(main, ["compare", "--json", first, second])
    assert answer.exit_code == 0, answer.output
    rows = json.loads(answer.stdout)
    assert [row["size"] for row in rows] == [1024, 2048]
    assert [row[second] for row in rows] == [11.0, 19.0]
    differences = [row[f"{second}: difference"] for row in rows]
    assert differences == pytest.approx([0.1, -0.05])
    shown = CliRunner().invoke(main, ["compare", first, second])
    assert shown.exit_code == 0, shown.output
    assert "+10.0 %" in shown.stdout
    assert "7.5 %" in shown.stdout.splitlines()[-1]  # the mean of 10 and 5 %


def test_a_size_that_a_table_lacks_has_no_difference(tmp_path: Path) -> None:
    times = {"a": {8: 1.0, 16: 2.0}, "b": {16: 3.0, 32: 4.0}}
    assert [one["b: difference"] for one in tables_compared(times)] == [None, 0.5, None]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["compare", "{first}"], "expected two tables or more"),
        (["compare", "{first}", "{second}", "--fail-above", "3%"], "expected results, not tables"),
        (["plot", "busbw", "{osu}", "-o", "{picture}"], "expected a table with the column busbw"),
        (["plot", "busbw", "{first}", "--x", "a", "-o", "{picture}"], "--x is for sweep"),
    ],
)
def test_wrong_tables(
    tables: dict[str, Path], tmp_path: Path, words: list[str], message: str
) -> None:
    (tmp_path / "osu.txt").write_text(osu_log("Allreduce", {1024: 20.0}))
    files = tables | {"osu": tmp_path / "osu.txt", "picture": tmp_path / "busbw.svg"}
    answer = CliRunner().invoke(main, [word.format(**files) for word in words])
    assert answer.exit_code == 2
    assert message in answer.stderr
    assert not (tmp_path / "busbw.svg").exists()


def test_tables_are_drawn(tables: dict[str, Path], tmp_path: Path) -> None:
    picture = tmp_path / "busbw.svg"
    names = [str(tables[form]) for form in ("first", "csv", "log")]
    answer = CliRunner().invoke(main, ["plot", "busbw", *names, "-o", str(picture)])
    assert answer.exit_code == 0, answer.output
    assert picture.stat().st_size > 1000
