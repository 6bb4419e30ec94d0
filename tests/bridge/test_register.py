"""`cosim.register`: the examples of docs/extending.md, as in a notebook that has no package."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bridge import InputError, register
from frontend.collectives import ALGORITHMS, Algorithm, CollectiveError

NOTEBOOK = """
import json, sys, types
import cosim

cells, scenario = json.load(open(sys.argv[1]))
cosim.load_scenario("first.yaml")  # the schema is there before what is registered
entries = []
for code in cells:
    exec(code)
    names = [name for name in ("ALGORITHM", "KIND", "FAMILY") if name in globals()]
    entries.append(globals()[names[0]])
    cosim.register(entries[-1])
    cosim.register(entries[-1])  # the cell runs again
open("own.yaml", "w").write(scenario)
result = cosim.run("own.yaml")
swept = cosim.sweep("own.yaml", {"workload.microbatches": [5, 8]})
times = [one.result.time_ns for one in swept]
assert times[0] < times[1] == result.time_ns, [one.error for one in swept]
try:
    cosim.load_scenario("own.yaml", {"topology.family": "whel"})
except cosim.ScenarioError as error:
    print(json.dumps([result.status, [one.name for one in entries], str(error)]))
"""


def test_own_parts_of_a_notebook(tmp_path: Path, repository: Path) -> None:
    page = (repository / "docs" / "extending.md").read_text(encoding="utf-8")
    cells = re.findall(r"```python\n# my_plugin/\w+\.py\n(.*?)```", page, re.DOTALL)
    (scenario,) = re.findall(r"uses all three\n\n```yaml\n(.*?)```", page, re.DOTALL)
    (tmp_path / "cells.json").write_text(json.dumps([cells, scenario]))
    first = (repository / "scenarios" / "first.yaml").read_text()
    (tmp_path / "first.yaml").write_text(first)
    answer = subprocess.run(
        [sys.executable, "-", "cells.json"],  # classes of a program on stdin have no source either
        input=NOTEBOOK,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    status, names, refusal = json.loads(answer.stdout)
    assert status == "complete"
    assert names == ["wheel", "pipeline", "star"]
    assert refusal.endswith("topology.family: value whel: did you mean wheel?")


def test_what_cannot_be_registered() -> None:
    with pytest.raises(InputError, match="expected an object of one of the classes Algorithm"):
        register(3)  # type: ignore[type-var]
    for name in ("my star", "", 5):
        entry = Algorithm(name, "text", {"barrier": lambda group_size: None})  # type: ignore
        with pytest.raises(InputError, match=f"{name!r}: expected a name of letters, digits"):
            register(entry)
    with pytest.raises(CollectiveError, match="mine: barrier: expected a function, not 5"):
        Algorithm("mine", "text", {"barrier": 5})  # type: ignore[dict-item]
    with pytest.raises(CollectiveError, match="mine: expected at least one operation"):
        Algorithm("mine", "text", {})
    before = ALGORITHMS["ring"]
    with pytest.raises(InputError, match="'ring' is registered twice"):
        register(before)
    assert ALGORITHMS["ring"] is before
