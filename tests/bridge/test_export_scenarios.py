"""Every small scenario gives the same time after it was written for other tools and read back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import bridge
from frontend import load_scenario
from frontend.compiler.export import export_chakra, export_goal
from frontend.errors import ScenarioError

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"
NAMES = sorted(file.stem for file in SCENARIOS.glob("*_small.yaml"))
FORMS: dict[str, Any] = {
    "chakra": export_chakra,
    "messages": lambda scenario, folder: export_chakra(scenario, folder, messages=True),
    "goal": export_goal,
}
#: What no format, or not each form, can express: scenario, form, and the reason.
REFUSED = {
    ("chakra_transformer_small", "messages"): "waits for a free stream",
    ("chakra_transformer_small", "goal"): "waits for a free stream",
    ("goal_halo_small", "chakra"): "waits for the start of another node",
    ("goal_halo_small", "messages"): "waits for the start of another node",
    ("topoopt_cluster_fat_tree_small", "chakra"): "starts together with nodes of other ranks",
    ("topoopt_cluster_fat_tree_small", "messages"): "starts together with nodes of other ranks",
    ("topoopt_cluster_fat_tree_small", "goal"): "starts at the same time as nodes of other ranks",
    ("unequal_all_to_all_small", "chakra"): "expected --messages",
}
DEMAND = ("topoopt_bert", "topoopt_cluster_small", "topoopt_dlrm", "topoopt_resnet50")


@pytest.mark.long
@pytest.mark.parametrize("fabric", ["express", "flow", "analytical"])
@pytest.mark.parametrize("name", NAMES)
def test_round_trip(name: str, fabric: str, tmp_path: Path) -> None:
    """With admission by each rank and slots enough, messages start as collectives do."""
    local = {"system.admission": "local", "system.concurrent_chunks": 1000}
    given = load_scenario(SCENARIOS / f"{name}.yaml", local | {"fabric": fabric})
    time = None
    for form, export in FORMS.items():
        folder = tmp_path / form
        folder.mkdir()
        why = "topology.demand" if name.startswith(DEMAND) else REFUSED.get((name, form))
        if why is not None:
            with pytest.raises(ScenarioError, match=why):
                export(given, folder)
            continue
        time = bridge.run(given).time_ns if time is None else time
        assert bridge.run(export(given, folder)[-1]).time_ns == time, form


@pytest.mark.long
@pytest.mark.parametrize("fabric", ["express", "flow", "analytical"])
@pytest.mark.parametrize("name", [n for n in NAMES if not n.startswith(DEMAND)])
def test_collectives_stay_as_they_are(name: str, fabric: str, tmp_path: Path) -> None:
    """As collectives, also those that all ranks start together give the same iterations."""
    if (name, "chakra") in REFUSED:
        pytest.skip(REFUSED[name, "chakra"])
    given = load_scenario(SCENARIOS / f"{name}.yaml", {"fabric": fabric})
    *_, file = export_chakra(given, tmp_path)
    before, after = bridge.run(given), bridge.run(file)
    assert after.time_ns == before.time_ns
    assert [one.time_ns for one in after.iterations] == [one.time_ns for one in before.iterations]
