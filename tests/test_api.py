"""The package `cosim`: the public names of `bridge`."""

from __future__ import annotations

import subprocess
import sys

import pytest

import bridge
import cosim


def test_same_names() -> None:
    assert cosim.__all__ == bridge.__all__
    for name in bridge.__all__:
        assert getattr(cosim, name) is getattr(bridge, name)
    assert dir(cosim) == sorted(bridge.__all__)


def test_unknown_name() -> None:
    with pytest.raises(AttributeError, match=r"module .cosim. has no attribute 'runs'"):
        cosim.runs  # noqa: B018


def test_names_are_imported_when_they_are_used() -> None:
    code = """
import sys
import cosim
assert not {"numpy", "pydantic", "scipy"} & {*sys.modules}
cosim.Result
assert "pydantic" in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
