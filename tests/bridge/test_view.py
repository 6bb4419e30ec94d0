"""`cosim view`: what it shows, what it estimates, and what it refuses."""

from __future__ import annotations

import re
import shutil
import subprocess
import threading
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
from bridge.present.quantities import time_text
from bridge.view.estimates import Estimator
from bridge.view.server import ADDRESS, ViewServer

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
        assert [row[1], row[2]] == expected
        assert expected[0] != expected[1]
        assert f"--set {CHANGE}" in text


def test_what_if_says_what_is_wrong(server: ViewServer) -> None:
    for change, said in (("topology.bandwith=1Gbps", "bandwidth"), ("nothing", "key.path=value")):
        text = page(server, "what-if", result="first", set=change)
        assert "note warning" in text
        assert said in text


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
        *(f"/{token}/what-if?result=first&fabric=express", f"/{token}/?{'a' * 9000}"),
        f"/{token}/page?{'&'.join(['result=first'] * 300)}",
        f"/%ff{token}/",
    ):
        status, text, _ = ask(server, path)
        assert (status, text) == (404, "No such page."), path
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
@pytest.mark.parametrize("path", ["", "page?result=first", f"what-if?result=first&set={CHANGE}"])
def test_a_browser_shows_it(server: ViewServer, path: str, tmp_path: Path) -> None:
    """Chromium reports no error, also none of the rules for what a page may load."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        pytest.skip("chromium is not installed")
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"]
    profile = f"--user-data-dir={tmp_path / 'profile'}"
    done = subprocess.run(
        [browser, *options, profile, "--virtual-time-budget=8000", "--dump-dom", server.url + path],
        capture_output=True,
        text=True,
        timeout=180,
        check=True,
    )
    assert "CONSOLE" not in done.stderr
    assert "<h1>cosim: " in done.stdout
    if path.startswith("page"):
        assert done.stdout.count('class="main-svg"') > 2
