"""A missing compiled module gets an explanation; other import errors pass through."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def import_core(monkeypatch: pytest.MonkeyPatch) -> Callable[[ImportError], None]:
    """Return a function that imports bridge.simulator.core while bridge._core raises an error."""
    real = builtins.__import__
    monkeypatch.delitem(sys.modules, "bridge.simulator.core", raising=False)

    def run(error: ImportError) -> None:
        def fail(name: str, *rest: Any, **more: Any) -> Any:
            if name == "bridge._core":
                raise error
            return real(name, *rest, **more)

        monkeypatch.setattr(builtins, "__import__", fail)
        import bridge.simulator.core  # noqa: F401

    return run


def test_not_built(import_core: Callable[[ImportError], None]) -> None:
    missing = ModuleNotFoundError("No module named 'bridge._core'", name="bridge._core")
    with pytest.raises(ModuleNotFoundError, match="did you forget to build"):
        import_core(missing)


def test_ns3_missing(import_core: Callable[[ImportError], None]) -> None:
    missing = ImportError("libns3.44-core.so: cannot open shared object file")
    with pytest.raises(ImportError, match="ns-3's shared libraries cannot be loaded"):
        import_core(missing)


@pytest.mark.parametrize(
    "error",
    [
        ImportError("undefined symbol: _ZTI"),
        ModuleNotFoundError("No module named 'numpy'", name="numpy"),
    ],
)
def test_other_errors_pass_through(
    import_core: Callable[[ImportError], None], error: ImportError
) -> None:
    with pytest.raises(ImportError) as caught:
        import_core(error)
    assert caught.value is error
