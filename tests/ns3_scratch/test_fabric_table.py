"""Python's table of fabrics agrees with the simulator."""

from __future__ import annotations

from pathlib import Path

import pytest

from bridge import ScenarioError, StreamError
from bridge.simulator import core
from frontend import load_scenario
from frontend.fabrics import CHANGING, ESTIMATORS, FABRICS
from tests.ns3_scratch.circuits import Message, Setup, carry

RING = [(0, 1), (1, 2), (2, 3), (3, 0)]


def test_the_fabrics_are_the_simulators() -> None:
    assert set(FABRICS) == set(core.fabrics())


@pytest.mark.parametrize("name", core.fabrics())
def test_links_that_change(name: str, scenarios: Path) -> None:
    """Simulator and schema accept link changes exactly for the fabrics in the table."""
    file = scenarios / "ocs_reconfig_small.yaml"
    if name in CHANGING:
        assert carry(Setup(4, RING), name, [Message(0, 1, 1)]).arrivals_ps
        assert load_scenario(file, {"fabric": name}).fabric == name
        return
    with pytest.raises(StreamError, match="can change"):
        carry(Setup(4, RING), name, [Message(0, 1, 1)])
    with pytest.raises(ScenarioError, match="expected express or flow"):
        load_scenario(file, {"fabric": name})


@pytest.mark.parametrize("name", core.fabrics())
def test_estimators_carry_no_acknowledgements(name: str) -> None:
    """Only fabrics that simulate packets count more packets than those with data."""
    statistics = carry(Setup(4, RING).still(), name, [Message(0, 1, 10**6)]).statistics
    assert (statistics.packets == statistics.data_packets) == (name in ESTIMATORS)
