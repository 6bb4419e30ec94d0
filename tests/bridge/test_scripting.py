"""Hooks with ns-3's real Python bindings, on the native datapath.

Each runs in a process of its own: the bindings take ten seconds and stay in memory.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.scripting, pytest.mark.slow]

HOOK = '''
import json

def on_built(ns, sim):
    ns.cppyy.cppdef("""
    ns3::Callback<void, ns3::Ptr<const ns3::Packet>> SizeSink(std::function<void(uint32_t)> sink)
    {
        using Sink = ns3::Callback<void, ns3::Ptr<const ns3::Packet>>;
        return Sink([sink](ns3::Ptr<const ns3::Packet> packet) { sink(packet->GetSize()); });
    }
    """)
    sizes = []
    # A callback whose signature is not the source's would end the process.
    connected = ns.Config.ConnectWithoutContextFailSafe(
        "/NodeList/*/DeviceList/*/$ns3::PointToPointNetDevice/PhyTxEnd",
        ns.cppyy.gbl.SizeSink(sim.keep(sizes.append)),
    )
    ns.PointToPointHelper().EnablePcap(
        str(sim.out / "capture"), ns.NodeContainer(ns.NodeList.GetNode(0))
    )
    flows = sim.keep(ns.FlowMonitorHelper())  # it owns the monitor
    monitor = flows.InstallAll()

    def end():
        monitor.CheckForLostPackets()
        report = {
            "connected": bool(connected),
            "nodes": ns.NodeList.GetNNodes(),
            "now_ps": ns.Simulator.Now().GetPicoSeconds(),
            "ranks": sim.scenario["topology"]["ranks"],
            "transmissions": len(sizes),
            "bytes": sum(sizes),
            "received_by_flows": sum(
                flow.second.rxPackets for flow in monitor.GetFlowStats()
            ),
        }
        (sim.out / "report.json").write_text(json.dumps(report))

    sim.at_end(end)
'''

#: What the examples of the page leave or print.
EXAMPLES = (
    lambda folder, printed: (
        list(folder.glob("capture-0-*.pcap"))
        and "<FlowMonitor>" in (folder / "flows.xml").read_text()
    ),
    lambda folder, printed: re.search(r"^[1-9]\d* transmissions, [1-9]\d* bytes$", printed, re.M),
)

RUN = """
import sys, bridge, runpy
hook = runpy.run_path(sys.argv[2])["on_built"]
bridge.run(sys.argv[1], {"fabric": "native"}, on_built=hook, out=sys.argv[3])
"""


@pytest.fixture
def hook(tmp_path: Path) -> Path:
    file = tmp_path / "monitor.py"
    file.write_text(HOOK)
    return file


def check(out: Path) -> dict[str, Any]:
    """Compare what the hook saw with what the fabric counted."""
    report: dict[str, Any] = json.loads((out / "report.json").read_text())
    network = json.loads((out / "result.json").read_text())["network"]
    assert report["connected"]
    assert report["ranks"] == 4
    assert report["nodes"] == 5  # and the switch
    assert report["now_ps"] > 0
    # Every packet crosses two links, host to switch to host, and nothing is lost. When the
    # workload ends, the acknowledgements of the last two segments are on their way in each of the
    # four flows.
    assert network["drops"] == 0
    assert 0 <= 2 * network["packets"] - report["transmissions"] <= 8
    assert report["bytes"] > 2 * network["payload_bytes"]
    assert 0 <= network["packets"] - report["received_by_flows"] <= 8
    captures = list(out.glob("capture-0-*.pcap"))
    assert captures
    # Both directions of rank 0, one quarter of all traffic each.
    assert sum(file.stat().st_size for file in captures) > 2 * network["payload_bytes"] / 4
    return report


def test_hook_of_the_scenario(small_file: Path, hook: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    changes = ["--set", f"hooks={hook.name}", "--allow-hooks", "--set", "fabric=native"]
    command = [sys.executable, "-m", "bridge", "run", str(small_file), *changes]
    subprocess.run([*command, "--out", str(out)], check=True, capture_output=True)
    check(out)


def test_hook_from_python(small_file: Path, hook: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = [sys.executable, "-c", RUN, str(small_file), str(hook), str(out)]
    # A folder with a second copy of ns-3 below it must not confuse the bindings.
    subprocess.run(command, check=True, capture_output=True, cwd=sys.prefix)
    check(out)


def test_every_example_of_the_page_is_known(repository: Path) -> None:
    assert len(examples(repository)) == len(EXAMPLES)


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_examples_of_the_page(
    repository: Path, small_file: Path, tmp_path: Path, number: int
) -> None:
    (tmp_path / "example.py").write_text(examples(repository)[number])
    command = [sys.executable, "-c", RUN, str(small_file), "example.py", "out"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=tmp_path)
    assert EXAMPLES[number](tmp_path, done.stdout)


def examples(repository: Path) -> list[str]:
    page = (repository / "docs" / "scripting.md").read_text(encoding="utf-8")
    return re.findall(r"```python\n(.*?)```", page, re.DOTALL)


def test_observing_changes_nothing(small_file: Path, hook: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "bridge", "run", str(small_file), "--set", "fabric=native"]
    times = []
    for out, extra in (
        (tmp_path / "without", []),
        (tmp_path / "with", ["--set", f"hooks={hook.name}", "--allow-hooks"]),
    ):
        subprocess.run([*command, *extra, "--out", str(out)], check=True, capture_output=True)
        times.append(json.loads((out / "result.json").read_text())["time_ns"])
    assert times[0] == times[1]


def test_hook_in_the_points_of_a_sweep(small_file: Path, hook: Path, tmp_path: Path) -> None:
    """Each point has its hook in a child process that no other point uses."""
    out = tmp_path / "out"
    options = ["--set", f"hooks={hook.name}", "--allow-hooks"]
    options += ["--set", "fabric=native", "--over", "seed=1,2"]
    command = [sys.executable, "-m", "bridge", "sweep", str(small_file), *options, "--jobs", "1"]
    subprocess.run([*command, "--out", str(out)], check=True, capture_output=True)
    reports = [check(out / f"seed={seed}") for seed in (1, 2)]
    assert reports[0]["transmissions"] == reports[1]["transmissions"]
