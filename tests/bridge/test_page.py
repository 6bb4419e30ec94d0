"""`cosim plot -o x.html`: one HTML file that needs no network, renders, and is accessible."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import bridge
from bridge.cli.main import main
from bridge.present.page.page import write_page
from bridge.present.pictures.charts import iteration_parts
from bridge.present.pictures.links import link_map
from bridge.results.result import Result
from tests.bridge.browser import browser_page, chromium

LONG = ["--set", "workload.bytes=1GB", "--size-limit", "1MB"]
LOSSES = ["topology.buffer=300KB", "workload.peer_order=same", "transport.min_rto=1ms"]


class Outline(HTMLParser):
    """Collects what a test asks of a page, and checks that elements nest."""

    VOID = frozenset({"meta", "link", "br", "input"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.found if name == tag]


def charts(page: str) -> list[dict[str, Any]]:
    text = re.search(r'id="charts">(.*?)</script>', page, re.DOTALL)
    assert text is not None
    found: list[dict[str, Any]] = json.loads(text[1])
    return found


@pytest.fixture(scope="module")
def page(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a report about a DLRM with and without its fast network."""
    pytest.importorskip("plotly")
    folder = tmp_path_factory.mktemp("page")
    scenario = repository / "scenarios" / "dlrm_hier_opt_small.yaml"
    slower = {"topology.scale_out.bandwidth": "50Gbps", "outputs.critical_path": True}
    everything = {"critical_path": True, "timeline": True, "series": {"interval": "1us"}}
    bridge.run(scenario, {"outputs": everything}, out=folder / "fast")
    bridge.run(scenario, slower, out=folder / "slow")
    names = [str(folder / name) for name in ("fast", "slow")]
    ran = CliRunner().invoke(main, ["plot", *names, "-o", str(folder / "x.html")])
    assert ran.exit_code == 0, ran.output
    return folder / "x.html"


def test_it_is_one_file(page: Path) -> None:
    outline = Outline(page.read_text("utf-8"))
    assert all((one.get("href") or "").startswith(("data:", "#")) for one in outline.all("link"))
    assert not any(one.get("src") for one in outline.all("script"))
    assert not outline.all("img")


def test_screen_readers_and_keyboards(page: Path) -> None:
    outline = Outline(page.read_text("utf-8"))
    assert outline.all("html")[0]["lang"] == "en"
    assert len(outline.all("h1")) == 1
    assert outline.all("a")[0]["href"] == "#main"
    ids = [one["id"] for _, one in outline.found if "id" in one]
    assert len(ids) == len(set(ids))
    assert {(one.get("href") or "")[1:] for one in outline.all("a")} <= set(ids)
    assert len(outline.all("caption")) == len(outline.all("table"))
    pictures = [one for one in outline.all("div") if one.get("role") == "img"]
    assert len(pictures) == len(charts(page.read_text("utf-8")))
    assert all(len(one["aria-label"] or "") > 20 for one in pictures)


def test_it_answers_the_questions(page: Path) -> None:
    text = page.read_text("utf-8").partition("<script>")[0]
    assert "topology.scale_out.bandwidth" in text
    assert text.index("What changed") < text.index("Overview")
    results = [bridge.Result.load(page.parent / name) for name in ("fast", "slow")]
    fast, slow = (result.time_ns for result in results)
    assert f"{slow / fast - 1:+.1%}".replace("%", " %") in text
    names = [chart["name"] for chart in charts(page.read_text("utf-8"))]
    assert names == [
        *("iteration", "layers", "busbw", "timeline-0", "critical-path", "links-0", "links-1"),
        *("queue-0", "throughput-0", "cwnd-0", "RTT-0", "fct", "slowdown"),
    ]
    whole, _, _, _, path, *_ = charts(page.read_text("utf-8"))
    for number, result in enumerate(results):
        shown = sum(trace["x"][number] for trace in path["data"])
        mean = sum(one.time_ns for one in result.iterations) / len(result.iterations)
        assert shown * 1000 == pytest.approx(mean)
        assert sum(trace["x"][number] for trace in whole["data"]) * 1000 == pytest.approx(mean)


def test_losses_are_named(repository: Path, tmp_path: Path) -> None:
    pytest.importorskip("plotly")
    scenario = repository / "scenarios" / "collective_small.yaml"
    result = bridge.run(scenario, [*LOSSES, "outputs.critical_path=true"])
    write_page({"lossy": result}, tmp_path / "x.html")
    text = (tmp_path / "x.html").read_text("utf-8").partition("<script>")[0]
    assert re.search(r"retransmission 99\.\d %", text)
    assert re.search(r"lossy: 99\.\d % of this run waits for \d+ retransmission timeouts", text)
    assert "Links with drops" in text
    [links] = [
        one for one in charts((tmp_path / "x.html").read_text("utf-8")) if one["name"] == "links-0"
    ]
    [drops] = [trace for trace in links["data"] if trace["name"] == "drops"]
    assert len(drops["x"]) == sum(row["drops"] > 0 for row in result.tables.rows("links"))
    assert f"timeouts (RTO)</th><td>{result.network.rto_events}</td>" in text


def test_many_results(result: Result, tmp_path: Path) -> None:
    """The settings and metrics of all are in tables; of the first ones, a reader chooses some."""
    pytest.importorskip("plotly")
    results = {
        f"run {seed}": result.model_copy(
            update={"scenario": result.scenario | {"size": f"{seed}MB"}, "time_ns": 1e6 * seed}
        )
        for seed in range(1, 20)
    }
    write_page(results, tmp_path / "x.html")
    text = (tmp_path / "x.html").read_text("utf-8")
    assert "<output>4</output> of 16, the first of 19</summary>" in text
    boxes = [one for one in Outline(text).all("input") if "value" in one]
    assert [number for number, one in enumerate(boxes) if "checked" in one] == [0, 1, 2, 3]
    for seed in range(1, 20):
        assert re.search(rf"<td>{seed}MB</td><td>{seed}\.0+ ms</td>", text)
    assert "Longest collectives of run 16" in text
    assert "Longest collectives of run 17" not in text
    sweep = charts(text)[0]
    assert (sweep["name"], sweep["data"][0]["y"]) == ("sweep", list(range(1, 20)))


def test_parallel_dimensions(repository: Path, tmp_path: Path) -> None:
    """The parts of an iteration of a language model are its compute and its dimensions."""
    result = bridge.run(repository / "scenarios" / "llm_llama3_8b_small.yaml")
    chart = iteration_parts({"llm": result})
    assert chart is not None
    parts = {one["name"]: 1e6 * one["x"][0] for one in chart.traces}
    exposed = {layer.name.replace("_", " "): layer.exposed_comm_ns for layer in result.layers}
    for name in ("tensor parallel", "pipeline parallel", "data parallel"):
        assert parts[name] == pytest.approx(exposed[name]) != 0
    [iteration] = result.iterations
    assert parts["compute"] == pytest.approx(iteration.compute_ns)
    assert sum(parts.values()) == pytest.approx(iteration.time_ns)


def test_an_interrupted_run(repository: Path, tmp_path: Path) -> None:
    """A run that Ctrl-C ended leaves a result with tables and a timeline, which has a report."""
    pytest.importorskip("plotly")
    scenario = repository / "scenarios" / "collective.yaml"
    run = subprocess.Popen(
        [
            *(sys.executable, "-m", "bridge", "run", scenario, "-o", tmp_path),
            *("--timeline", "--critical-path", *LONG),
        ],
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        # the signal is ignored if the tests run in the background
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    while not (tmp_path / "timeline.json.gz").exists():
        assert run.poll() is None
        time.sleep(0.01)
    time.sleep(0.3)
    run.send_signal(signal.SIGINT)
    assert run.wait(timeout=60) == 130
    ran = CliRunner().invoke(main, ["plot", str(tmp_path), "-o", str(tmp_path / "x.html")])
    assert ran.exit_code == 0, ran.output
    text = (tmp_path / "x.html").read_text("utf-8").partition("<script>")[0]
    assert "is partial: interrupted" in text
    assert "The busiest links" in text
    assert "No iteration has ended, so there is no critical path." in text


def test_a_partial_result_and_hostile_names(raw_result: dict[str, Any], tmp_path: Path) -> None:
    """A result without tables, with a name that would end an element."""
    pytest.importorskip("plotly")
    raw_result["layers"][0]["name"] = "</script><script>alert(1)</script>"
    partial = raw_result | {"status": "interrupted", "collectives": []}
    write_page({"<b>": Result.model_validate(partial)}, tmp_path / "x.html")
    text = (tmp_path / "x.html").read_text("utf-8")
    assert "is partial: interrupted" in text
    assert "<b>" not in text.partition("<script>")[0]
    assert "</script><script>alert" not in text
    assert [chart["name"] for chart in charts(text)] == ["iteration", "layers"]


def test_wrong_input(result: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result.save(tmp_path)
    for words, sentence in (
        (
            [*2 * [str(tmp_path)], "-o", str(tmp_path / "x.pdf")],
            "a file that ends in .html",
        ),
        (["-o", str(tmp_path / "x.html")], "missing argument"),
        ([str(tmp_path / "none"), "-o", str(tmp_path / "x.html")], "no such file or folder"),
    ):
        ran = CliRunner().invoke(main, ["plot", *words])
        assert (ran.exit_code, sentence in ran.stderr) == (2, True)
    monkeypatch.setitem(sys.modules, "plotly", None)
    ran = CliRunner().invoke(main, ["plot", str(tmp_path), "-o", str(tmp_path / "x.html")])
    assert ran.exit_code == 2
    assert "install the extra `report`" in ran.stderr


def test_the_former_name(result: Result, tmp_path: Path) -> None:
    pytest.importorskip("plotly")
    result.save(tmp_path)
    pages = [tmp_path / f"{name}.html" for name in ("plot", "report")]
    for page in pages:
        ran = CliRunner().invoke(main, [page.stem, str(tmp_path), "-o", str(page)])
        assert ran.exit_code == 0, ran.stderr
        is_former = page.stem == "report"
        assert ("`cosim report` is now `cosim plot`" in ran.stderr) == is_former
    assert pages[0].read_text() == pages[1].read_text()


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 500, 1400])
def test_a_browser_renders_it(page: Path, tmp_path: Path, width: int) -> None:
    """Chromium draws every chart, in both themes, within the window, and reports no error.

    A frame is as wide as the screen, because windows are at least 500 pixels wide.
    The link over the navigation appears when a keyboard reaches it.
    """
    probe = tmp_path / "probe.html"
    check = """<script>
      document.getElementById("theme").click();
      const skip = document.querySelector(".skip");
      const hidden = skip.getBoundingClientRect().right < 0;
      skip.focus();
      const root = document.documentElement;
      const said = [document.querySelectorAll(".main-svg").length, root.dataset.theme,
        hidden && skip.getBoundingClientRect().left >= 0 ? "focus" : "no focus",
        root.scrollWidth <= root.clientWidth ? "fits" : "too wide"].join(", ");
      window.parent.postMessage(said, "*");</script></body>"""
    probe.write_text(page.read_text("utf-8").replace("</body>", check), "utf-8")
    screen = tmp_path / "screen.html"
    screen.write_text(
        "<script>addEventListener('message', (e) => { document.title = e.data; });</script>"
        f'<iframe src="{probe.name}" style="width:{width}px;height:900px"></iframe>'
    )
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"]
    options.append("--window-size=1500,1000")
    profile = f"--user-data-dir={tmp_path / 'profile'}"
    done = subprocess.run(
        [
            chromium(),
            *options,
            profile,
            "--virtual-time-budget=8000",
            "--dump-dom",
            screen.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=180,
        check=True,
    )
    assert "CONSOLE" not in done.stderr
    title = re.search(r"<title>(\d+), (?:dark|light), focus, fits</title>", done.stdout)
    assert title is not None
    assert int(title[1]) >= len(charts(page.read_text("utf-8")))


@pytest.fixture(scope="module")
def sweep(scenarios: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the page of a sweep of six points; the estimate has no packets."""
    pytest.importorskip("plotly")
    folder = tmp_path_factory.mktemp("sweep")
    over = "topology.scale_out.bandwidth=50Gbps,100Gbps,200Gbps,300Gbps,400Gbps"
    arguments = ["sweep", str(scenarios / "dlrm_hier_opt_small.yaml"), "--over", over]
    arguments += ["--set", "outputs.critical_path=true", "--out", str(folder / "points")]
    ran = CliRunner().invoke(main, arguments)
    assert ran.exit_code == 0, ran.output
    flow = [*arguments[:2], "--set", "fabric=flow", "--out", str(folder / "flow")]
    assert CliRunner().invoke(main, ["run", *flow[1:]]).exit_code == 0
    places = [str(folder / "points"), str(folder / "flow"), "-o", str(folder / "x.html")]
    ran = CliRunner().invoke(main, ["plot", *places])
    assert ran.exit_code == 0, ran.output
    return folder / "x.html"


def test_points_of_a_sweep_are_named_by_what_they_set(sweep: Path, tmp_path: Path) -> None:
    page = tmp_path / "x.html"
    ran = CliRunner().invoke(main, ["plot", str(sweep.parent / "points"), "-o", str(page)])
    assert ran.exit_code == 0, ran.output
    names = re.findall(r'<input type="checkbox" value=[^<]*<span>([^<]*)</span>', page.read_text())
    assert names == [f"bandwidth={rate}Gbps" for rate in (50, 100, 200, 300, 400)]


#: What a page shows: the results with links, bars of iterations, columns of TCP, and charts.
SHOWN = """() => {
  const seen = (one) => one.getClientRects().length > 0;
  const texts = (where) => [...document.querySelectorAll(where)].filter(seen)
    .map((one) => one.textContent);
  return {
    links: texts("#links figcaption").filter((one) => one.startsWith("Links by")).length,
    bars: texts("#chart-iteration .ytick text").map((one) => one.trim()),
    columns: texts("#transport th[scope=col][data-result]").length,
    curves: texts("#chart-fct .scatterlayer .trace").length,
    overview: texts("#overview tbody th").length,
    title: texts("#choice summary")[0],
    wide: document.documentElement.scrollWidth > document.documentElement.clientWidth,
  };
}"""


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1600])
def test_a_reader_chooses_results(sweep: Path, width: int) -> None:
    """In Chromium: the page of a sweep shows four results first, then those that one chooses."""
    with browser_page(width) as view:
        view.goto(sweep.as_uri())

        def check(results: int, packets: int) -> None:
            shown = view.evaluate(SHOWN)
            assert (shown["links"], shown["columns"]) == (results, packets)
            assert len(shown["bars"]) == results
            assert shown["curves"] == 2 * results
            assert shown["overview"] == 6
            assert f"show: {results} of 6" in shown["title"]
            assert not shown["wide"]

        check(4, 4)
        view.click("#choice summary")
        boxes = view.locator("#choice input[value]")
        for number in (0, 1, 2):
            boxes.nth(number).uncheck()
        check(1, 1)
        boxes.nth(5).check()  # the estimate
        check(2, 1)
        view.check("#every")
        check(6, 5)
        view.uncheck("#every")
        check(0, 0)
        boxes.nth(4).check()
        check(1, 1)


def test_links_are_named_as_in_the_topology(tmp_path: Path, scenarios: Path) -> None:
    result = bridge.run(scenarios / "dgx_h100_small.yaml", out=tmp_path / "dgx")
    links = link_map(result)
    assert links is not None
    names = {links.link_name(link) for link in links.links}
    assert {"leaf0.3 → spine0", "rank 0 → leaf0.0"} <= names
