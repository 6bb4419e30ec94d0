"""The type of options that are quantities with a unit."""

from __future__ import annotations

from typing import Any

import click

from frontend import units


class Quantity(click.ParamType[int]):
    """A quantity above 0 with a unit, such as 100Gbps, in its base unit; a time may be 0."""

    def __init__(self, kind: units.Kind) -> None:
        self.kind = kind
        self.name = kind.name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the quantity; fail with what is accepted."""
        try:
            result = units.parse(value, self.kind)
        except ValueError as error:
            self.fail(f"{value!r}: {error}", param, ctx)
        if result == 0 and self.kind is not units.TIME:
            self.fail(f"{value!r}: expected {units.accepted(self.kind)}, more than 0", param, ctx)
        return result
