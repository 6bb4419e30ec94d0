"""The rooms of ns3-scratch form floors: a file includes only its own room and lower floors."""

import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

FLOORS = (
    {"support"},
    {"stream"},
    {"network", "clock"},
    {"circuits", "symmetry", "transport"},
    {"system", "fabrics"},
    {"workload", "results"},
    {"simulation"},
)
FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
OUTSIDE_ROOMS = {"main.cc", "cosim-tests.cc"}  # above all floors
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def read_includes(root: Path) -> dict[Path, list[Path]]:
    """Return the quoted includes of each source file, except ns-3's headers."""
    files = [path for path in sorted(root.rglob("*")) if path.suffix in {".cc", ".h"}]
    return {
        path.relative_to(root): [
            Path(name)
            for name in INCLUDE.findall(path.read_text("utf-8"))
            if not name.startswith("ns3/")
        ]
        for path in files
    }


def find_faults(root: Path) -> Iterator[str]:
    """Yield a sentence for each file or include in the wrong place."""
    includes = read_includes(root)
    for file, targets in includes.items():
        room = file.parts[0]
        if str(file) not in OUTSIDE_ROOMS and room not in FLOOR_OF:
            yield f"{file} is in no room"
            continue
        floor = FLOOR_OF.get(room, len(FLOORS))
        for target in targets:
            if target not in includes or target.parts[0] not in FLOOR_OF:
                yield f'{file} includes "{target}", which names no file of a room'
            elif target.parts[0] != room and FLOOR_OF[target.parts[0]] >= floor:
                yield f"{file} includes {target}, which is not on a lower floor"
    folders: dict[Path, set[Path]] = {}
    for file, targets in includes.items():
        folders.setdefault(file.parent, set()).update(
            target.parent for target in targets if target.parent != file.parent
        )
    for graph in (includes, folders):
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            yield "a circle: " + " → ".join(map(str, error.args[1]))


def test_every_include_goes_down(repository: Path) -> None:
    assert not list(find_faults(repository / "ns3-scratch"))


def test_every_room_is_there(repository: Path) -> None:
    rooms = {path.name for path in (repository / "ns3-scratch").iterdir() if path.is_dir()}
    assert rooms == set(FLOOR_OF)


GOOD = {
    "main.cc": ["simulation/run.h"],
    "simulation/run.h": ["fabrics/a/a.h", "stream/s.h", "ns3/simulator.h"],
    "fabrics/a/a.h": ["fabrics/b/b.h"],
    "fabrics/b/b.h": ["network/n.h"],
    "fabrics/b/b.cc": ["fabrics/b/b.h"],
    "network/n.h": ["stream/s.h"],
    "stream/s.h": [],
}


def make_tree(root: Path, changes: dict[str, list[str]]) -> Path:
    for name, targets in (GOOD | changes).items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(f'#include "{target}"\n' for target in targets), "utf-8")
    return root


def test_a_good_tree_has_no_faults(tmp_path: Path) -> None:
    assert not list(find_faults(make_tree(tmp_path, {})))


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        (
            {"network/n.h": ["fabrics/b/b.h"]},
            "network/n.h includes fabrics/b/b.h, which is not on a lower floor",
        ),
        (
            {"network/n.h": ["clock/c.h"], "clock/c.h": []},
            "network/n.h includes clock/c.h, which is not on a lower floor",
        ),
        (
            {"network/n.h": ["n2.h"], "network/n2.h": []},
            'network/n.h includes "n2.h", which names no file of a room',
        ),
        (
            {"network/n.h": ["stream/gone.h"]},
            'network/n.h includes "stream/gone.h", which names no file of a room',
        ),
        (
            {"simulation/run.h": ["main.cc"]},
            'simulation/run.h includes "main.cc", which names no file of a room',
        ),
        ({"tools.cc": []}, "tools.cc is in no room"),
        ({"attic/old.h": []}, "attic/old.h is in no room"),
    ],
)
def test_a_fault_is_found(tmp_path: Path, changes: dict[str, list[str]], fault: str) -> None:
    faults = list(find_faults(make_tree(tmp_path, changes)))
    assert faults[0] == fault
    assert all(further.startswith("a circle: ") for further in faults[1:])


def test_circles_of_files_and_of_folders_are_found(tmp_path: Path) -> None:
    tree = make_tree(tmp_path, {"fabrics/b/c.h": ["fabrics/a/d.h"], "fabrics/a/d.h": []})
    (fault,) = find_faults(tree)
    assert "fabrics/a → fabrics/b" in fault
    make_tree(tmp_path, {"fabrics/b/c.h": ["fabrics/b/e.h"], "fabrics/b/e.h": ["fabrics/b/c.h"]})
    (fault,) = find_faults(tree)
    assert "fabrics/b/c.h → fabrics/b/e.h" in fault
