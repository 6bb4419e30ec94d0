"""The plug-in package in docs/extending.md works exactly as printed there."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "extending.md"
TEXT = PAGE.read_text(encoding="utf-8")
KINDS = {"topology family": "wheel", "workload kind": "pipeline", "collective algorithm": "star"}


def section(kind):
    return TEXT.partition(f"## How to add a {kind}\n")[2].partition("\n## ")[0]


def blocks(text, language):
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


def files(text):
    """Return the Python files in a text by their paths, which their first lines give."""
    return {code.partition("\n")[0].removeprefix("# "): code for code in blocks(text, "python")}


@pytest.fixture(scope="module")
def plugin(tmp_path_factory, install_example):
    """Create a folder with the page's scenario and its package, in an installed form."""
    folder = tmp_path_factory.mktemp("site")
    install_example("my_plugin", folder)
    (scenario,) = blocks(TEXT, "yaml")
    (folder / "plugin.yaml").write_text(scenario, encoding="utf-8")
    return folder


def cosim(folder, *arguments, code=0):
    return python(folder, "-m", "bridge", *arguments, code=code)


def python(folder, *arguments, code=0):
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    return done.stdout if code == 0 else done.stderr


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_names_the_files_that_its_example_has(kind):
    named = re.findall(r"^- `(.*)`$", section(kind).partition("### Files you touch")[2], re.M)
    assert named == [*files(section(kind)), "pyproject.toml"]
    assert len(files(section(kind))) == 1
    for path in re.findall(r"`((?:frontend|topology_gen)/[\w/.]+)`", section(kind)):
        assert (PAGE.parents[1] / path).exists(), path


def test_list_and_schema_show_them(plugin):
    listed = json.loads(cosim(plugin, "list", "--json"))
    assert listed["topologies"]["wheel"] == "A ring with a hub."
    assert listed["workloads"]["pipeline"].startswith("Microbatches pass through")
    assert listed["collectives"]["all_reduce"].endswith(", star")
    assert "star" not in listed["collectives"]["all_gather"]
    definitions = json.loads(cosim(plugin, "schema"))["$defs"]
    assert definitions["WheelTopology"]["properties"]["family"]["const"] == "wheel"
    assert definitions["PipelineWorkload"]["properties"]["microbatches"]["default"] == 4
    assert '"star"' in json.dumps(definitions["CollectiveAlgorithms"])


def test_a_scenario_of_all_three_runs(plugin):
    assert cosim(plugin, "validate", "plugin.yaml") == "plugin.yaml: valid\n"
    cosim(plugin, "compile", "plugin.yaml", "-o", "plugin.stream")
    assert (plugin / "plugin.stream").stat().st_size > 0
    if importlib.util.find_spec("bridge._core") is None:
        pytest.skip("needs the compiled bridge._core")
    result = json.loads(cosim(plugin, "run", "plugin.yaml", "--json"))
    # 8 microbatches pass 5 stages of 10 µs each; messages and the all-reduce take the rest.
    assert result["iterations"][0]["time_ns"] > (8 + 5 - 1) * 10_000
    assert {layer["name"] for layer in result["layers"]} == {"stage", "gradient"}


def test_their_checks_name_the_key(plugin):
    message = cosim(plugin, "validate", "plugin.yaml", "--set", "workload.microbatches=3", code=2)
    assert (
        "workload.microbatches: value 3: expected at least one for each of the 5 ranks" in message
    )
    message = cosim(plugin, "validate", "plugin.yaml", "--set", "topology.ranks=1", code=2)
    assert "topology.ranks: value 1: expected at least 2" in message
    change = "collective={all_to_all: star}"
    message = cosim(plugin, "validate", "plugin.yaml", "--set", change, code=2)
    assert "collective.all_to_all: value star: expected an algorithm for all_to_all" in message


def test_the_algorithm_is_right(plugin):
    code = """
from frontend.collectives import build, check
for size in (2, 3, 8):
    check(build("all_reduce", "star", size))
"""
    python(plugin, "-c", code)


@pytest.mark.parametrize("command", ["validate", "compile", "run"])
def test_a_wrong_algorithm_is_refused(plugin, tmp_path, command):
    shutil.copytree(plugin, tmp_path, dirs_exist_ok=True)
    star = tmp_path / "my_plugin" / "star.py"
    there, back = (
        "    for member in others:\n        builder.message(0,",
        "    return builder.build()",
    )
    code = star.read_text(encoding="utf-8")
    star.write_text(code.partition(there)[0] + back + code.partition(back)[2], encoding="utf-8")
    output = ["-o", "wrong.stream"] if command == "compile" else []
    message = cosim(tmp_path, command, "plugin.yaml", *output, code=2)
    assert message.removeprefix("cosim: ") == (
        "plugin.yaml: collective.all_reduce: value star: gradient.all_reduce: "
        "all_reduce by 'star': member 1 ends without the contribution of "
        "member 0, member 2, member 3, member 4 to unit 0 (and 3 more)\n"
    )
    assert not (tmp_path / "wrong.stream").exists()


def test_the_package_may_be_imported_first(plugin):
    for module in ("wheel", "pipeline", "star"):
        python(plugin, "-c", f"import my_plugin.{module}, frontend; frontend.Scenario")


BROKEN = {
    "syntax": ("def KIND(:", "invalid syntax"),
    "missing": ("import no_such_module", "No module named 'no_such_module'"),
    "failing": ("1 / 0", "division by zero"),
    "leaving": ("raise SystemExit(3)", "cannot be loaded: 3"),
    "other": ("KIND = {'kind': 'broken'}", "is {'kind': 'broken'}: expected an object of"),
    "nothing": ("", "has no attribute 'KIND'"),
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_entry_is_left_out(plugin, tmp_path, how):
    code, reason = BROKEN[how]
    (tmp_path / "broken_one.py").write_text(code)
    information = tmp_path / "broken-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    groups = ("workloads", "topologies", "collectives")
    points = "".join(f"[cosim.{group}]\nbroken = broken_one:KIND\n" for group in groups)
    (information / "entry_points.txt").write_text(points)
    both = os.pathsep.join([str(plugin), str(tmp_path)])

    def call(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "bridge", *arguments],
            cwd=plugin,
            env=os.environ | {"PYTHONPATH": both},
            capture_output=True,
            text=True,
            check=False,
        )

    listed = call("list")
    assert listed.returncode == 0
    assert "pipeline" in listed.stdout
    start = "cosim: warning: the workload kind 'broken' of the package broken (broken_one:KIND) "
    (warning,) = (line for line in listed.stderr.splitlines() if "workload kind" in line)
    assert warning.startswith(start)
    assert reason in warning
    assert len(listed.stderr.splitlines()) == len(groups)
    assert call("validate", "plugin.yaml").stdout == "plugin.yaml: valid\n"
    for change in ("workload.kind", "topology.family", "collective.all_reduce"):
        *_, sentence = call(
            "validate", "plugin.yaml", "--set", f"{change}=broken"
        ).stderr.splitlines()
        assert sentence.startswith(f"cosim: --set {change}=broken: {change}: value broken: ")
        assert reason in sentence
