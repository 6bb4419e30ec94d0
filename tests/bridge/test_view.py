"""`cosim view`: what it shows, what it estimates, and what it refuses."""

from __future__ import annotations

import re
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from html import unescape
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import pytest

import bridge
from bridge.errors import InputError
from bridge.present.metrics import METRICS
from bridge.present.quantities import steady, time_text
from bridge.results.labels import set_label
from bridge.view.estimates import Estimator
from bridge.view.pages import titles
from bridge.view.server import ADDRESS, ViewServer
from tests.bridge.browser import browser_page, chromium

CHANGE = "topology.bandwidth=400Gbps"


@pytest.fixture(scope="module")
def folder(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two results, one of them of a sweep, and a hostile name."""
    pytest.importorskip("plotly")
    folder = tmp_path_factory.mktemp("results")
    scenario = repository / "scenarios" / "first.yaml"
    bridge.run(scenario, out=folder / "first")
    bridge.run(scenario, {"workload.bytes": "1MB"}, out=folder / "sweep" / '<b>&"x')
    return folder


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[ViewServer]:
    """Return a running server."""
    with ViewServer(folder) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def ask(server: ViewServer, path: str, host: str | None = None) -> tuple[int, str, Any]:
    """Return the status, the text and the headers of an answer."""
    port = server.server_address[1]
    connection = HTTPConnection(ADDRESS, port, timeout=60)
    connection.request("GET", path, headers={"Host": host or f"{ADDRESS}:{port}"})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text, answer.headers


def page(server: ViewServer, name: str = "", **query: Any) -> str:
    path = f"/{server.token}/{name}" + (f"?{urlencode(query, doseq=True)}" if query else "")
    status, text, _ = ask(server, path)
    assert status == 200, text
    return text


def test_the_list_has_links_to_every_result(server: ViewServer) -> None:
    text = page(server)
    names = [unescape(one) for one in re.findall(r'name="result" value="([^"]*)"', text)]
    assert sorted(names) == ["first", 'sweep/<b>&"x']
    assert "<b>" not in text
    for link in re.findall(r'href="((?:page|what-if)[^"]*)"', text):
        status, shown, _ = ask(server, f"/{server.token}/{unescape(link)}")
        assert status == 200
        assert "<b>" not in shown


def test_names_are_labels_or_what_was_set(tmp_path: Path) -> None:
    places = ["first/topology.bandwidth=400Gbps_seed=2", "first/seed=3", "my_run"]
    for place in places:
        (tmp_path / place).mkdir(parents=True)
    set_label(tmp_path / "first/seed=3", "baseline")
    shown = titles({place: tmp_path / place / "result.json" for place in places})
    assert list(shown.values()) == ["first / bandwidth=400Gbps, seed=2", "baseline", "my_run"]


def test_results_are_compared(server: ViewServer) -> None:
    text = page(server, "page", result=["first", 'sweep/<b>&"x'])
    assert "What changed" in text
    assert "workload.bytes" in text
    assert 'href="./"' in text


def test_what_if_is_what_a_run_estimates(server: ViewServer, folder: Path) -> None:
    """The times are those of `cosim run` with the estimator, without and with the change."""
    for fabric in ("flow", "analytical"):
        text = page(server, "what-if", result="first", set=CHANGE, fabric=fabric)
        row = re.search(r'<th scope="row">time</th><td>(.*?)</td><td>(.*?)</td>', text)
        assert row is not None
        file = folder / "first" / "result.json"
        expected = [
            time_text(bridge.run(file, ["fabric=" + fabric, *changes]).time_ns)
            for changes in ([], [CHANGE])
        ]
        assert [row[1], row[2]] == steady(expected)
        assert expected[0] != expected[1]
        assert f"--set {CHANGE}" in text


def test_what_if_says_what_is_wrong(server: ViewServer) -> None:
    for change, said in (("topology.bandwith=1Gbps", "bandwidth"), ("nothing", "key.path=value")):
        text = page(server, "what-if", result="first", set=change)
        assert "note warning" in text
        assert said in text


def send(server: ViewServer, path: str, **form: Any) -> tuple[int, str | None]:
    """Return the status and the new address of an answer to a form."""
    port = server.server_address[1]
    connection = HTTPConnection(ADDRESS, port, timeout=60)
    head = {"Host": f"{ADDRESS}:{port}", "Content-Type": "application/x-www-form-urlencoded"}
    connection.request("POST", path, urlencode(form, doseq=True), head)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status, answer.headers["Location"]


def started(server: ViewServer, **form: Any) -> str:
    """Start a simulation, and return its number."""
    status, to = send(server, f"/{server.token}/simulate", **form)
    assert status == 303
    assert to is not None
    assert to.startswith("run?run="), to
    return to.removeprefix("run?run=")


def until(server: ViewServer, number: str, text: str) -> str:
    """Wait until what a simulation says contains a text."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        said = page(server, "progress", run=number)
        if text in said:
            return said
        time.sleep(0.05)
    raise AssertionError(said)


def test_an_estimate_comes_within_a_second(server: ViewServer) -> None:
    """After the first one of a result, which also estimates the result as it is."""
    page(server, "estimate", result="first", set=CHANGE)
    times = []
    for rate in (150, 250, 350):
        begin = time.monotonic()
        text = page(server, "estimate", result="first", set=f"topology.bandwidth={rate}Gbps")
        times.append(time.monotonic() - begin)
        assert text.startswith("<div")  # a part of the page
    assert min(times) < 1


def test_a_simulation_by_packets_is_that_of_a_run(server: ViewServer, folder: Path) -> None:
    number = started(server, result="first", set=CHANGE)
    said = until(server, number, "Done")
    expected = bridge.run(folder / "first" / "result.json", [CHANGE])
    assert f"time {time_text(expected.time_ns)}" in said
    new = folder / "first" / CHANGE
    assert bridge.Result.load(new).time_ns == expected.time_ns
    (link,) = re.findall(r'href="(page[^"]*)"', said)
    assert "What changed" in page(server, unescape(link))
    assert "Done" in page(server, "run", run=number)
    # An estimate is simulated by packets, too.
    bridge.run(folder / "first" / "result.json", {"fabric": "flow"}, out=folder / "guess" / "flow")
    until(server, started(server, result="guess/flow"), "Done")
    packets = bridge.Result.load(folder / "guess" / "flow" / "fabric=express")
    assert packets.time_ns == bridge.Result.load(folder / "first").time_ns
    shutil.rmtree(new)
    shutil.rmtree(folder / "guess")


def test_a_simulation_can_be_cancelled(server: ViewServer, folder: Path) -> None:
    """It says how far it is; the next one waits; what was cancelled leaves nothing."""
    before = sorted(folder.rglob("*"))
    long = "topology.ranks=64\nworkload.bytes=4GB\nsystem.chunks.all_reduce=512"
    first = started(server, result="first", set=long)
    second = started(server, result="first", set=f"{long}\nseed=7")
    assert re.search(r'<progress max="1" value="0\.\d+"', until(server, first, "% of"))
    assert "It waits" in page(server, "progress", run=second)
    for number in (second, first):
        status, to = send(server, f"/{server.token}/cancel", run=number)
        assert (status, to) == (303, f"run?run={number}")
        assert "Cancelled" in page(server, "run", run=number)
    third = started(server, result="first", set="topology.ranks=4")
    until(server, third, "Done")
    shutil.rmtree(folder / "first" / "topology.ranks=4")
    assert sorted(folder.rglob("*")) == before


def test_what_cannot_be_simulated_is_said(server: ViewServer) -> None:
    status, to = send(
        server, f"/{server.token}/simulate", result="first", set="topology.bandwith=1Gbps"
    )
    assert status == 303
    assert to is not None
    assert "note warning" in page(server, to)
    for path, form in (
        ("simulate", {"result": "no"}),
        ("simulate", {}),
        ("cancel", {"run": "99"}),
        ("other", {"result": "first"}),
        ("simulate", {"result": "first", "set": "x" * 40_000}),
    ):
        assert send(server, f"/{server.token}/{path}", **form) == (404, None), path
    assert send(server, "/x/simulate", result="first") == (404, None)


def test_the_results_of_a_sweep_are_chosen(repository: Path, tmp_path: Path, folder: Path) -> None:
    bridge.sweep(
        repository / "scenarios" / "first.yaml",
        {"workload.bytes": ["1MB", "2MB", "3MB", "4MB", "5MB", "6MB"]},
        out=tmp_path / "sizes",
    )
    shutil.copytree(folder / "first", tmp_path / "first")
    with ViewServer(tmp_path) as server:
        assert "sizes</a>, 6 results" in server.page("", {})
        text = server.page("page", {"sweep": ["sizes"]})
        assert "6 of 6 are shown" in text
        assert "cosim: 6 results" in text
        chosen = [f"sizes/workload.bytes={size}MB" for size in (2, 5)]
        text = server.page("page", {"result": chosen})
        assert "2 of 6 are shown" in text
        boxes = re.findall(r'name="result" value="([^"]*)"( checked)?>', text)
        assert sorted(name for name, checked in boxes if checked) == chosen
        assert len(boxes) == 6
        assert "chooser" not in server.page("page", {"result": ["first"]}).split("<main")[1][:200]


def test_a_child_that_dies_or_takes_too_long_is_replaced(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next estimate works, and equals the one before."""
    file = folder / "first" / "result.json"
    estimator = Estimator()
    try:
        first = estimator.estimates(file, [CHANGE], "flow").after.time_ns
        estimator._child.terminate()
        with pytest.raises(InputError, match="ended with signal 15"):
            estimator.estimates(file, [CHANGE], "flow")
        assert estimator.estimates(file, [CHANGE], "flow").after.time_ns == first
        monkeypatch.setattr("bridge.view.estimates.LIMIT_S", 0.0)
        with pytest.raises(InputError, match="takes more than 0 s"):
            estimator.estimates(file, ["topology.ranks=4096"], "flow")
        monkeypatch.undo()
        assert estimator.estimates(file, [CHANGE], "flow").after.time_ns == first
    finally:
        estimator.close()


def test_hooks_do_not_run(folder: Path) -> None:
    """A key that names a program is refused, as without --allow-hooks."""
    estimator = Estimator()
    try:
        with pytest.raises(InputError, match="--allow-hooks"):
            estimator.estimates(folder / "first" / "result.json", ["hooks=a.py"], "flow")
    finally:
        estimator.close()


def test_only_the_address_with_its_token_answers(server: ViewServer) -> None:
    """A wrong token, a result that is not there, and a name that leads here say nothing."""
    assert server.server_address[0] == "127.0.0.1"
    token, port = server.token, server.server_address[1]
    outside = quote("../" * 8 + "etc/passwd", safe="")
    for path in (
        *("/", "/x/", f"/{token[:-1]}/", f"/{token}x/", f"/x{token}/", f"/{token}"),
        *(f"/{token}/no", f"/{token}/page", f"/{token}/page?result=no"),
        *(f"/{token}/page?result={outside}", f"/{token}/{'../' * 5}etc/passwd"),
        *(f"/{token}/what-if?result=first&fabric=express", f"/{token}/?{'a' * 40_000}"),
        f"/{token}/page?{'&'.join(['result=first'] * 700)}",
        f"/%ff{token}/",
    ):
        status, text, _ = ask(server, path)
        assert (status, text) == (404, "No such page."), path[:99]
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", f"127.0.0.1:{port + 1}"):
        status, text, _ = ask(server, f"/{token}/", host)
        assert status == 403, host
        assert "first" not in text
    status, _, headers = ask(server, f"/{token}/", f"localhost:{port}")
    assert status == 200
    assert headers["Referrer-Policy"] == "no-referrer"
    assert "default-src 'none'" in headers["Content-Security-Policy"]


def test_each_server_has_a_token_of_its_own(folder: Path) -> None:
    tokens = set()
    for _ in range(3):
        with ViewServer(folder) as server:
            tokens.add(server.token)
    assert len(tokens) == 3
    assert min(map(len, tokens)) >= 32


def test_the_columns_of_the_list_are_metrics() -> None:
    from bridge.view.pages import _COLUMNS

    assert set(_COLUMNS) <= METRICS.keys()


def test_the_command(folder: Path) -> None:
    """It prints the address, answers there, and ends at Ctrl-C with exit status 130."""
    import signal
    import sys
    from urllib.request import urlopen

    command = [sys.executable, "-m", "bridge", "view", str(folder)]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        text=True,
        # the signal is ignored if the tests run in the background
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert urlsplit(url).hostname == "127.0.0.1"
        with urlopen(url, timeout=30) as answer:
            assert b"first" in answer.read()
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 130


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1600])
def test_a_user_changes_a_key_and_simulates_it(
    server: ViewServer, folder: Path, width: int
) -> None:
    """In Chromium: an estimate that follows the keys, a simulation with progress, a comparison."""
    with browser_page(width) as view:

        def fits() -> bool:
            sizes = "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
            inside, outside = view.evaluate(sizes)
            return bool(inside <= outside)

        view.goto(server.url)
        assert fits()
        view.goto(f"{server.url}what-if?result=first")
        before = view.inner_text("#estimate")
        view.fill("textarea", CHANGE)
        view.wait_for_function(
            "text => document.getElementById('estimate').innerText !== text", arg=before
        )
        assert "0.3032 ms" in view.inner_text("#estimate")
        assert fits()
        long = "topology.ranks=64\nworkload.bytes=4GB\nsystem.chunks.all_reduce=512"
        view.fill("textarea", long)
        view.click("text=Simulate by packets")
        view.wait_for_selector("progress[value]")
        assert fits()
        view.click("text=Cancel")
        view.wait_for_selector("text=Cancelled")
        view.goto(f"{server.url}what-if?result=first")
        view.fill("textarea", f"topology.bandwidth={width}Gbps")
        view.click("text=Simulate by packets")
        view.wait_for_selector("text=Done")
        view.click("text=Compare it")
        view.wait_for_selector(".main-svg")
        assert fits()
    shutil.rmtree(folder / "first" / f"topology.bandwidth={width}Gbps")


@pytest.mark.slow
@pytest.mark.parametrize("path", ["", "page?result=first", f"what-if?result=first&set={CHANGE}"])
def test_a_browser_shows_it(server: ViewServer, path: str, tmp_path: Path) -> None:
    """Chromium reports no error, also none of the rules for what a page may load."""
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"]
    profile = f"--user-data-dir={tmp_path / 'profile'}"
    done = subprocess.run(
        [
            chromium(),
            *options,
            profile,
            "--virtual-time-budget=8000",
            "--dump-dom",
            server.url + path,
        ],
        capture_output=True,
        text=True,
        timeout=180,
        check=True,
    )
    assert "CONSOLE" not in done.stderr
    assert "<h1>cosim: " in done.stdout
    if path.startswith("page"):
        assert done.stdout.count('class="main-svg"') > 2
