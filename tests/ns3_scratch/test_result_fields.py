"""The lists of fields that C++ writes agree with the blocks of a result that Python describes."""

import re
from pathlib import Path

import pytest

from bridge.results import measurements
from bridge.results.measurements import Block

NETWORK = Path(__file__).parents[2] / "ns3-scratch" / "network"
HEADERS = "".join(
    (NETWORK / name).read_text() for name in ("network-statistics.h", "link-change.h")
)

BLOCKS: dict[str, type[Block]] = {
    "NetworkStatistics": measurements.NetworkStatistics,
    "DimensionStatistics": measurements.DimensionStatistics,
    "Reordering": measurements.Reordering,
    "NetworkEventReport": measurements.NetworkEvent,
}


def written_names(struct: str) -> list[str]:
    (table,) = re.findall(rf"FIELDS<{struct}> =\s*std::make_tuple\(([^;]*)\);", HEADERS)
    return re.findall(r'Field\{"(\w+)"', table)


@pytest.mark.parametrize("struct", BLOCKS)
def test_a_struct_has_the_fields_of_its_block(struct: str) -> None:
    assert sorted(written_names(struct)) == sorted(BLOCKS[struct].model_fields)


def test_the_fields_of_a_change_of_links_follow_its_times() -> None:
    names = {"start_ns", "pause_ns", *written_names("LinkChange")}
    assert names == set(measurements.Reconfiguration.model_fields)


def test_a_field_of_picoseconds_is_named_in_nanoseconds() -> None:
    # `IsTime` in support/fields.h converts an integer by this name.
    for name, member in re.findall(r'Field\{"(\w+)", &\w+::(\w+)\}', HEADERS):
        assert member.endswith(("Ps", "Ns")) == name.endswith("_ns"), (name, member)
