"""Errors of scripting hooks that cannot be loaded; test_scripting.py runs real hooks."""

from __future__ import annotations

import gc
import importlib.util
import weakref
from pathlib import Path

import pytest

from bridge.errors import HookError
from bridge.simulator import hooks
from bridge.simulator.hooks import BuiltSimulation, load_hook, require_bindings


def test_hook_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "hook.py"
    file.write_text("def on_built(ns, sim):\n    sim.append(ns)\n")
    seen: list[str] = []
    load_hook(file)("bindings", seen)  # type: ignore[arg-type]
    assert seen == ["bindings"]


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(HookError, match=r"hooks: .*/missing\.py: no such file"):
        load_hook(tmp_path / "missing.py")


def test_file_without_the_function(tmp_path: Path) -> None:
    file = tmp_path / "hook.py"
    file.write_text("on_built = 1\n")
    with pytest.raises(HookError, match=r"defines no function on_built\(ns, sim\)"):
        load_hook(file)


def test_file_that_is_not_python(tmp_path: Path) -> None:
    file = tmp_path / "hook.py"
    file.write_text("def on_built(ns, sim):\n    ns.\n")
    with pytest.raises(HookError, match=r"hooks: .*/hook\.py:2: invalid syntax, expected Python$"):
        load_hook(file)


def test_error_in_the_file_passes_through(tmp_path: Path) -> None:
    file = tmp_path / "hook.py"
    file.write_text("1 / 0\n")
    with pytest.raises(ZeroDivisionError):
        load_hook(file)


def test_missing_bindings_name_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(HookError, match="the extra `scripting`"):
        require_bindings()


def test_second_copy_of_ns3_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = "".join(
        f"7f00-7f01 r-xp 0000 08:01 42 /copy {copy}/libns3.44-core.so\n" for copy in (1, 2, 2)
    )
    monkeypatch.setattr(Path, "read_text", lambda self, **how: lines)
    with pytest.raises(HookError, match=r"/copy 1/libns3.* and /copy 2/libns3"):
        hooks._refuse_second_copy()


def test_kept_objects_live_as_long_as_the_simulation() -> None:
    simulation = BuiltSimulation({})
    thing = weakref.ref(simulation.keep(lambda: None))
    gc.collect()
    assert thing() is not None
    del simulation
    gc.collect()
    assert thing() is None


def test_endings_run_in_order() -> None:
    order: list[int] = []
    simulation = BuiltSimulation({})
    simulation.at_end(lambda: order.append(1))
    simulation.at_end(lambda: order.append(2))
    simulation.end()
    assert order == [1, 2]
