"""`cosim plot`: each kind shows the numbers of its result, and refuses what it cannot show."""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import bridge
from bridge.cli.main import main
from bridge.errors import InputError
from bridge.present.metrics import METRICS
from bridge.present.pictures import charts
from bridge.present.pictures.chart_picture import draw_chart
from bridge.present.pictures.charts import MANY_LAYERS, layer_groups, sweep_chart
from bridge.present.pictures.kinds import KINDS, draw_layers
from bridge.present.pictures.rank_timeline import WAITING, timeline
from bridge.results.folders import ORDER_NAME, keep_order, results_at
from bridge.results.measurements import Layer
from bridge.results.result import Result
from bridge.results.timeline_file import COMPUTING, TIMEOUT, slices


def plot(*words: object) -> tuple[int, str]:
    ran = CliRunner().invoke(main, ["plot", *map(str, words)])
    return ran.exit_code, ran.stderr


@pytest.fixture(scope="module")
def dlrm(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Result:
    """Return a result with everything that a picture can show."""
    outputs = {"timeline": True, "critical_path": True, "series": {"interval": "1us"}}
    folder = tmp_path_factory.mktemp("dlrm")
    scenario = repository / "scenarios" / "dlrm_hier_opt_small.yaml"
    bridge.run(scenario, {"outputs": outputs}, out=folder)
    return Result.load(folder)


@pytest.fixture(scope="module")
def incast(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Result:
    """Return a result over RoCE with lossless switches, and time series."""
    folder = tmp_path_factory.mktemp("incast")
    scenario = repository / "scenarios" / "incast_roce_small.yaml"
    bridge.run(scenario, {"outputs": {"series": {"interval": "20us"}}}, out=folder)
    return Result.load(folder)


@pytest.fixture(scope="module")
def swept(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a sweep over numbers and names."""
    folder = tmp_path_factory.mktemp("sweep")
    over = {"workload.bytes": ["8KB", "64KB", "1MB"], "workload.algorithm": ["ring", "direct"]}
    bridge.sweep(repository / "scenarios" / "first.yaml", over, out=folder)
    return folder


def folder_of(result: Result) -> Path:
    file = result.tables.file("result.json")
    assert file is not None
    return file.parent


def test_picture_is_reproducible(result: Result, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    for name in ("a.svg", "b.svg"):
        draw_layers(result, tmp_path / name)
    picture = (tmp_path / "a.svg").read_text()
    assert picture == (tmp_path / "b.svg").read_text()
    assert "top_mlp_0" in picture


def test_unknown_ending(result: Result, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    with pytest.raises(InputError, match="xyz"):
        draw_layers(result, tmp_path / "a.xyz")


def test_result_without_layers(raw_result: dict[str, Any], tmp_path: Path) -> None:
    raw_result["layers"] = []
    with pytest.raises(InputError, match="expected layers"):
        draw_layers(Result.model_validate(raw_result), tmp_path / "a.svg")


def test_missing_matplotlib(
    result: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match="the extra `plot`"):
        draw_layers(result, tmp_path / "a.svg")


OF_OTHERS = ("sweep", "jobs", "cluster")  # the last two: test_job_charts.py


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in OF_OTHERS])
def test_every_kind_is_drawn(kind: str, dlrm: Result, incast: Result, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    shown = incast if kind in ("rate", "pauses") else dlrm
    code, said = plot(kind, folder_of(shown), "-o", tmp_path / "x.svg")
    assert code == 0, said
    assert "</svg>" in (tmp_path / "x.svg").read_text()


def test_pauses_are_drawn_at_their_times(incast: Result) -> None:
    assert incast.pauses is not None
    chart = charts.pauses(incast)
    assert chart is not None
    bars = [
        (start, length, row)
        for trace in chart.traces
        for start, length, row in zip(trace["base"], trace["x"], trace["y"], strict=True)
    ]
    assert len(bars) == incast.pauses.count
    assert 1e6 * sum(length for _, length, _ in bars) == pytest.approx(incast.pauses.time_ns)
    worst = [length for _, length, row in bars if row.startswith(incast.pauses.worst_link)]
    assert 1e6 * sum(worst) == pytest.approx(incast.pauses.worst_ns)


def test_rates_are_those_of_queue_pairs(incast: Result, dlrm: Result) -> None:
    chart = charts.rates(incast)
    assert chart is not None
    # a pair starts at 100 Gb/s, and each cut is at most by half; 0: it has not sent anything
    values = {value for trace in chart.traces for value in trace["y"]}
    assert 0 <= min(values) < max(values) <= 100
    assert {50, 25} <= values
    assert charts.rates(dlrm) is None


def test_bars_of_layers_are_their_times(dlrm: Result) -> None:
    chart = charts.layers({"": dlrm})
    assert chart is not None
    assert "[µs]" in chart.layout["xaxis"]["title"]["text"]
    iterations = len(dlrm.iterations)
    compute, exposed, every = ([1000 * x for x in trace["x"]] for trace in chart.traces)
    layers = [one for one in dlrm.layers if one.compute_ns or one.raw_comm_ns]
    assert compute == pytest.approx([one.compute_ns / iterations for one in layers])
    assert exposed == pytest.approx([one.exposed_comm_ns / iterations for one in layers])
    assert every == pytest.approx([one.raw_comm_ns / iterations for one in layers])


def test_many_layers_share_rows() -> None:
    """Sums stay; a name alone keeps its number; layers that do nothing have no row."""
    many = [
        Layer(name=f"block_{i}.mlp", compute_ns=i, raw_comm_ns=2, exposed_comm_ns=1)
        for i in range(MANY_LAYERS)
    ]
    idle = Layer(name="idle", compute_ns=0, raw_comm_ns=0, exposed_comm_ns=0)
    head = Layer(name="head_1", compute_ns=5, raw_comm_ns=0, exposed_comm_ns=0)
    assert [one.name for one in layer_groups([idle, *many])] == [one.name for one in many]
    block, alone = layer_groups([*many, idle, head])
    assert (block.name, alone.name) == (f"block_*.mlp ({MANY_LAYERS})", "head_1")
    assert block.compute_ns == sum(range(MANY_LAYERS))
    assert (block.raw_comm_ns, block.exposed_comm_ns) == (2 * MANY_LAYERS, MANY_LAYERS)


def test_queues_are_the_longest_of_the_samples(dlrm: Result) -> None:
    chart = charts.queues(dlrm)
    assert chart is not None
    rows = dlrm.tables.rows("link_series")
    peaks: dict[int, int] = {}
    for row in rows:
        peaks[row["link"]] = max(peaks.get(row["link"], 0), row["queue_bytes"])
    shown = sorted(peaks.values(), reverse=True)[: len(chart.traces)]
    assert [1000 * max(trace["y"]) for trace in chart.traces] == pytest.approx(shown)
    assert chart.layout["yaxis"]["title"]["text"] == "queue [kB]"


def test_a_timeline_has_the_computation_of_the_result(dlrm: Result) -> None:
    """The bars of all ranks over the run add up to its computation, which is a mean over ranks."""
    chart = timeline(dlrm, range(16), (0, dlrm.time_ns))
    assert chart is not None
    phases = {"forward", "backward", "optimizer", COMPUTING}
    compute = [sum(trace["x"]) for trace in chart.traces if trace["name"] in phases]
    expected = sum(one.compute_ns for one in dlrm.iterations)
    assert len(compute) > 1
    assert 1000 * sum(compute) / 16 == pytest.approx(expected)
    first = timeline(dlrm)
    assert first is not None
    begin, end = first.layout["xaxis"]["range"]
    assert 1000 * (end - begin) == pytest.approx(dlrm.iterations[0].time_ns)


def test_bars_of_a_timeline_do_not_overlap(dlrm: Result) -> None:
    chart = timeline(dlrm, ranks=(3, 5), window=(2_000, 30_000))
    assert chart is not None
    rows: dict[str, list[tuple[float, float]]] = {}
    for trace in chart.traces:
        for name, start, length in zip(trace["y"], trace["base"], trace["x"], strict=True):
            rows.setdefault(name, []).append((start, start + length))
    assert {name.partition(":")[0] for name in rows} == {"rank 3", "rank 5"}
    for bars in rows.values():
        bars.sort()
        assert all(a[1] <= b[0] + 1e-9 for a, b in pairwise(bars))
        assert bars[0][0] >= 2
        assert bars[-1][1] <= 30 + 1e-9


def test_timeouts_are_in_the_timeline(repository: Path, tmp_path: Path) -> None:
    """Each timeout of the run is a wait of at least the smallest retransmission timeout."""
    scenario = repository / "scenarios" / "collective_small.yaml"
    lossy = ["topology.buffer=300KB", "workload.peer_order=same", "transport.min_rto=1ms"]
    result = bridge.run(scenario, [*lossy, "outputs=[timeline]"], out=tmp_path)
    found = slices(tmp_path / "timeline.json.gz", range(16), 0, result.time_ns)
    waits = [one for one in found if one.kind == TIMEOUT]
    assert len(waits) == result.network.rto_events > 0
    assert min(one.end_ns - one.start_ns for one in waits) >= 1e6
    chart = timeline(Result.load(tmp_path))
    assert chart is not None
    assert TIMEOUT in [trace["name"] for trace in chart.traces]


def test_a_sweep_is_drawn_from_its_folder(swept: Path, tmp_path: Path) -> None:
    """Numbers are the axis and names the curves; values are where their sizes say."""
    results = [Result.load(path) for path in results_at(swept)]
    chart = sweep_chart(results, None, METRICS["time"], None)
    assert chart is not None
    assert chart.layout["xaxis"]["title"]["text"] == "workload.bytes"
    assert chart.layout["xaxis"]["ticktext"] == ["8KB", "64KB", "1MB"]
    assert chart.layout["xaxis"]["tickvals"] == [8e3, 64e3, 1e6]
    marks = {one["name"]: one for one in chart.traces if one["mode"] == "markers"}
    assert list(marks) == ["ring", "direct"]  # in the order in which they were given
    unit = {"µs": 1e3, "ms": 1e6}[chart.layout["yaxis"]["title"]["text"][-3:-1]]
    times = {
        (one.scenario["workload"]["algorithm"], one.scenario["workload"]["bytes"]): one.time_ns
        for one in results
    }
    for name, trace in marks.items():
        expected = [times[name, size] / unit for size in ("8KB", "64KB", "1MB")]
        assert trace["y"] == pytest.approx(expected)
    if "matplotlib" in sys.modules:
        assert plot("sweep", swept, "-o", tmp_path / "x.svg")[0] == 0


def test_seeds_have_a_mark_each(result: Result, tmp_path: Path) -> None:
    results = [
        result.model_copy(
            update={"scenario": result.scenario | {"seed": seed}, "time_ns": 1e6 * seed}
        )
        for seed in (1, 2, 6)
    ]
    numbered = [one.model_copy(update={"scenario": one.scenario | {"ranks": 4}}) for one in results]
    chart = sweep_chart(numbered, "ranks", METRICS["time"], None)
    assert chart is not None
    line, marks = chart.traces
    assert line["y"] == [3.0]
    # Student's t with 2 degrees of freedom, times the standard error: sqrt(7 / 3).
    assert line["error_y"]["array"] == [pytest.approx(4.302653 * (7 / 3) ** 0.5)]
    draw_chart(chart, tmp_path / "seeds.svg")
    assert marks["y"] == [1.0, 2.0, 6.0]
    chart = sweep_chart(results, "fabric", METRICS["time"], None)
    assert chart is not None
    [bar] = chart.traces
    assert (bar["y"], bar["x"]) == ([results[0].scenario["fabric"]], [3.0])
    assert (bar["error_x"]["arrayminus"], bar["error_x"]["array"]) == ([2.0], [3.0])


@pytest.mark.parametrize("by", [None, "workload.bytes"])
def test_names_are_bars_in_the_given_order(
    by: str | None, repository: Path, tmp_path: Path
) -> None:
    """Bars are as long as the times; groups of numbers are in the order of the numbers."""
    given = ["ring", "direct", "halving_doubling", "dbt"]
    over = {"workload.algorithm": given} | ({"workload.bytes": ["1MB", "64KB"]} if by else {})
    bridge.sweep(repository / "scenarios" / "first.yaml", over, out=tmp_path / "s")
    results = [Result.load(path) for path in results_at(tmp_path / "s")]
    chart = sweep_chart(results, "workload.algorithm", METRICS["time"], by)
    assert chart is not None
    assert chart.layout["yaxis"]["categoryarray"] == given
    assert [trace["name"] for trace in chart.traces] == (["64KB", "1MB"] if by else [""])
    unit = {"µs": 1e3, "ms": 1e6}[chart.layout["xaxis"]["title"]["text"][-3:-1]]
    for trace in chart.traces:
        own = [
            one for one in results if not by or one.scenario["workload"]["bytes"] == trace["name"]
        ]
        times = {one.scenario["workload"]["algorithm"]: one.time_ns / unit for one in own}
        assert trace["y"] == given
        assert trace["x"] == pytest.approx([times[name] for name in given])
    if "matplotlib" in sys.modules:
        assert plot("sweep", tmp_path / "s", "-o", tmp_path / "x.svg")[0] == 0


def test_the_order_of_a_sweep_grows(tmp_path: Path) -> None:
    """Points keep their places when a later sweep adds others; a damaged file says nothing."""
    for name in ("c", "a", "b", "10", "9"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "result.json").touch()
    keep_order(tmp_path, ["c", "a"])
    keep_order(tmp_path, ["b", "a"])
    assert [path.name for path in results_at(tmp_path)] == ["c", "a", "b", "9", "10"]
    for damage in ("", "{}", "[1, null]", "[" * 100_000):
        (tmp_path / ORDER_NAME).write_text(damage)
        assert [path.name for path in results_at(tmp_path)] == ["9", "10", "a", "b", "c"]


@pytest.mark.parametrize("kind", ["queues", "throughput", "windows", "round_trips"])
def test_a_window_of_a_series(kind: str, dlrm: Result) -> None:
    """Exactly the samples of the window are shown, and the curves are those highest in it."""
    make = getattr(charts, kind)
    every, some = make(dlrm), make(dlrm, (20_000.0, 40_000.0))
    shown = {trace["name"]: dict(zip(trace["x"], trace["y"], strict=True)) for trace in some.traces}
    for name, points in shown.items():
        assert points
        assert all(20 <= time <= 40 for time in points), name
    known = {
        trace["name"]: dict(zip(trace["x"], trace["y"], strict=True)) for trace in every.traces
    }
    common = known.keys() & shown.keys()
    assert common
    unit = every.layout["yaxis"]["title"]["text"], some.layout["yaxis"]["title"]["text"]
    if unit[0] == unit[1]:
        for name in common:
            inside = {time: y for time, y in known[name].items() if 20 <= time <= 40}
            assert shown[name] == pytest.approx(inside)
    with pytest.raises(InputError, match="expected samples in this time window"):
        make(dlrm, (1e12, 2e12))


def test_a_window_on_the_command_line(dlrm: Result, incast: Result, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    for kind, shown in (("queue", dlrm), ("pauses", incast)):
        words = (kind, folder_of(shown), "-o", tmp_path / f"{kind}.svg", "--window", "10us..1ms")
        assert plot(*words) == (0, f"Picture: {tmp_path / kind}.svg\n")
    code, said = plot("fct", folder_of(dlrm), "-o", tmp_path / "x.svg", "--window", "0us..1us")
    assert (
        code,
        "--window is for queue, throughput, cwnd, rate, pauses, rtt, timeline" in said,
    ) == (
        2,
        True,
    )


def test_percentiles_of_completion_times(dlrm: Result) -> None:
    """The marks are the percentiles of the result, up to the resolution of fct.csv."""
    chart = charts.completion_times({"": dlrm})
    assert chart is not None
    [marks] = [trace for trace in chart.traces if trace["mode"] == "markers"]
    assert marks["y"] == [0.5, 0.99]
    expected = [dlrm.network.fct_p50_ns / 1e3, dlrm.network.fct_p99_ns / 1e3]
    assert marks["x"] == pytest.approx(expected, rel=0.02)
    assert marks["name"] == f"p50 {marks['x'][0]:.4g}, p99 {marks['x'][1]:.4g}"


@pytest.fixture(scope="module")
def llm(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Result:
    """Return a language model with its timeline: 16 ranks, tp 4, pp 2, dp 2."""
    folder = tmp_path_factory.mktemp("llm")
    scenario = repository / "scenarios" / "llm_llama3_8b_small.yaml"
    bridge.run(scenario, {"outputs": {"timeline": {"counters": False}}}, out=folder)
    return Result.load(folder)


def test_lanes_of_a_language_model(llm: Result) -> None:
    """Each dimension of parallelism has lanes of its own, with its collectives and messages."""
    chart = timeline(llm, ranks=(0, 8))
    assert chart is not None
    lanes: dict[str, set[str]] = {}
    for trace in chart.traces:
        for row, text in zip(trace["y"], trace["text"], strict=True):
            lanes.setdefault(row.split(": ")[1].split(" ")[0], set()).add(text)
    assert list(dict.fromkeys(row.split(": ")[1].split(" ")[0] for row in rows_of(chart))) == [
        "compute",
        "tp",
        "pp",
        "dp",
    ]
    of = {"tp": "tensor_parallel", "dp": "data_parallel"}
    for lane, layer in of.items():
        assert lanes[lane] == {one.name for one in llm.collectives if one.layer == layer}
    assert lanes["pp"] == {"stage.send", "stage.receive"}
    kinds = {trace["name"] for trace in chart.traces}
    assert {"forward", "backward", "optimizer", WAITING} <= kinds


def rows_of(chart: Any) -> list[str]:
    return list(chart.layout["yaxis"]["categoryarray"])


def test_computation_and_waits_fill_the_time(llm: Result) -> None:
    """From its first to its last computation, a rank computes or waits, and never both."""
    chart = timeline(llm, ranks=range(16), window=(0.0, llm.time_ns))
    assert chart is not None
    for rank in range(16):
        bars = sorted(
            (start, start + length)
            for trace in chart.traces
            for row, start, length in zip(trace["y"], trace["base"], trace["x"], strict=True)
            if row == f"rank {rank}: compute"
        )
        assert all(a[1] == pytest.approx(b[0], abs=1e-6) for a, b in pairwise(bars))
        assert bars[0][0] == 0


def test_wrong_sweeps(swept: Path, tmp_path: Path) -> None:
    picture = tmp_path / "x.svg"
    for words, sentence in (
        (["--x", "workload.bytes", "--by", "name"], "workload.algorithm"),
        (["--x", "workload.bites"], "has no such key"),
        (["--y", "tokens"], "expected results with the metric of --y"),
        (["--ranks", "1"], "--ranks is for timeline, not for sweep"),
    ):
        code, said = plot("sweep", swept, "-o", picture, *words)
        assert (code, sentence in said) == (2, True), said
    code, said = plot("layers", swept, "-o", picture, "--x", "seed")
    assert (code, "--x is for sweep, not for layers" in said) == (2, True)
    (tmp_path / "empty").mkdir()
    code, said = plot("sweep", tmp_path / "empty", "-o", picture)
    assert (code, "expected a result.json in the folder" in said) == (2, True)
    assert not picture.exists()


def test_what_a_result_lacks_is_named(result: Result, tmp_path: Path) -> None:
    result.save(tmp_path)
    for kind, needed in (("queue", "outputs.series"), ("timeline", "--timeline")):
        code, said = plot(kind, tmp_path, "-o", tmp_path / "x.svg")
        assert (code, needed in said) == (2, True)


def test_a_wrong_window(dlrm: Result, tmp_path: Path) -> None:
    for words, sentence in (
        (["--window", "5"], "expected START..END"),
        (["--window", "5..6"], "expected a time with a unit"),
        (["--window", "1s..2s"], "expected something of these ranks"),
        (["--ranks", "5-2"], "ends before it begins"),
    ):
        code, said = plot("timeline", folder_of(dlrm), "-o", tmp_path / "x.svg", *words)
        assert (code, sentence in said) == (2, True), said
    (tmp_path / "timeline.json.gz").write_bytes(b"no gzip")
    with pytest.raises(InputError, match="expected a timeline of a run"):
        slices(tmp_path / "timeline.json.gz", (0,), 0, 1)


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_both_formats_of_series(form: str, small: dict[str, Any], tmp_path: Path) -> None:
    if form == "parquet":
        pytest.importorskip("pyarrow")
    outputs = {"format": form, "series": {"interval": "1us", "links": "all"}}
    bridge.run(small, {"outputs": outputs}, out=tmp_path)
    tables = Result.load(tmp_path).tables
    numbers = tables.numbers("link_series", ("time_ns", "queue_bytes"))
    assert numbers is not None
    rows = tables.rows("link_series")
    assert numbers.tolist() == [[row["time_ns"], row["queue_bytes"]] for row in rows]
    with pytest.raises(InputError, match="expected a table of a run"):
        tables.numbers("link_series", ("none",))
