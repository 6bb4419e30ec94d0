"""Registries: order of names, packages that register themselves, and errors."""

from __future__ import annotations

import doctest
from importlib.metadata import EntryPoint, EntryPoints
from typing import NamedTuple

import pytest

import topology_gen.registry as module
from topology_gen.errors import RegistrationError, RegistrationWarning
from topology_gen.registry import Registry


class Colour(NamedTuple):
    name: str


PLUGGED = Colour("plugged")
RED = Colour("red")
NOT_NAMED = 7


@pytest.fixture
def installed(monkeypatch):
    """Return a function that lets an installed package name an object of this module."""

    def install(name, attribute):
        point = EntryPoint(name, f"{__name__}:{attribute}", "cosim.colours")
        monkeypatch.setattr(point.__class__, "load", lambda _: globals()[attribute])
        monkeypatch.setattr(module, "_installed", lambda path: EntryPoints([point]))

    return install


def colours(*names):
    registry = Registry[Colour]("colour", "cosim.colours", Colour)
    for name in names:
        registry.register(Colour(name))
    return registry


def test_examples():
    assert doctest.testmod(module).failed == 0


def test_order_of_registration():
    registry = colours("red", "blue")
    assert list(registry) == ["red", "blue"]
    assert len(registry) == 2
    assert registry["blue"] == Colour("blue")
    with pytest.raises(KeyError):
        registry["green"]


def test_a_name_is_taken_once():
    with pytest.raises(RegistrationError, match="the colour 'red' is registered twice"):
        colours("red", "red")


def test_an_installed_package_adds_an_entry(installed):
    installed("plugged", "PLUGGED")
    assert colours("red")["plugged"] is PLUGGED
    assert list(colours("red")) == ["red", "plugged"]


@pytest.mark.parametrize(
    ("name", "attribute", "message"),
    [
        ("other", "PLUGGED", "calls itself 'plugged': expected the name of its entry point"),
        ("number", "NOT_NAMED", "is 7: expected an object of Colour"),
        ("gone", "MISSING", "cannot be loaded: 'MISSING'"),
        ("red", "RED", "is registered twice"),
    ],
)
def test_a_wrong_entry_is_left_out_with_a_warning(installed, name, attribute, message):
    installed(name, attribute)
    registry = colours("red", "blue")
    with pytest.warns(RegistrationWarning, match=rf"^the colour '{name}' \(.*\) .*{message}"):
        assert list(registry) == ["red", "blue"]
    assert name == "red" or name not in registry
    assert message in registry.problem(name)
    assert registry.problem("blue") is None
