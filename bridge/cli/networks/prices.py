"""``cosim topo prices``: the list of prices, which a user may edit and pass to ``topo show``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import click
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from bridge.errors import InputError
from frontend import units
from frontend.schema.files import read_yaml
from topology_gen import bill
from topology_gen.cost import NIC_PORTS
from topology_gen.files import read_text

_HEADING = """\
# Prices of parts, by the rate of a link; `cosim topo show FILE --prices PRICES.yaml` uses them.
# A link takes the slowest parts that are fast enough, or several of the fastest in parallel.
# A part has `dollars` and `watts`; either may be missing, and what needs it is not computed.
# The dollars are those of Table 2 of TopoOpt (NSDI 2023). The watts are of public data sheets: of
# optical modules, and of a switch of 32 ports of 100 Gb/s for each port. There is none for NICs.
"""

_EXPECTED = {
    "missing": "expected a value",
    "too_short": "expected at least one",
    "extra_forbidden": "unknown key",
    "greater_than_equal": "expected at least 0",
}

_Amount = Annotated[float | None, Field(ge=0, allow_inf_nan=False)]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Part(_Entry):
    dollars: _Amount = None
    watts: _Amount = None


class _Nic(_Part):
    ports: Annotated[int, Field(gt=0, le=64)] = NIC_PORTS


def _rate(value: Any) -> int:
    rate = units.parse(value, units.RATE)
    if rate < 1:
        raise ValueError("expected a rate above 0")
    return rate


class _Parts(_Entry):
    rate: Annotated[int, BeforeValidator(_rate)]
    transceiver: _Part
    nic: _Nic
    switch_port: _Part
    fibres: Annotated[int, Field(gt=0, le=64)] = 1


class _Prices(_Entry):
    fibre: _Part
    parts: Annotated[list[_Parts], Field(min_length=1)]


def read_prices(file: Path | None) -> bill.PriceList:
    """Return the prices of a file, or the default ones.

    Raises
    ------
    InputError
        The file cannot be read, or is no list of prices.
    """
    if file is None:
        return bill.default_prices()
    try:
        found = _Prices.model_validate(read_yaml(read_text(file)))
    except OSError as error:
        raise InputError(f"{file}: {error.strerror}: expected a readable file") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        said = _EXPECTED.get(first["type"]) or first["msg"].removeprefix("Value error, ")
        raise InputError(
            f"{file}: {where + ': ' if where else ''}{said}; "
            "`cosim topo prices` prints a list of prices to edit"
        ) from None
    except ValueError as error:
        raise InputError(f"{file}: {error}") from None
    parts = [
        bill.Parts(
            one.rate,
            bill.Part(one.transceiver.dollars, one.transceiver.watts),
            bill.Part(one.nic.dollars, one.nic.watts),
            bill.Part(one.switch_port.dollars, one.switch_port.watts),
            one.nic.ports,
            one.fibres,
        )
        for one in found.parts
    ]
    parts.sort(key=lambda one: one.rate_bps)
    return bill.PriceList(parts, bill.Part(found.fibre.dollars, found.fibre.watts))


def prices_text(prices: bill.PriceList) -> str:
    """Return a list of prices as YAML, as `read_prices` reads it."""
    lines = [f"{_HEADING}fibre: {_flow(prices.fibre)}  # of mean length", "parts:"]
    for one in prices.parts:
        lines += [
            f"- rate: {one.rate_bps / 1e9:.12g}Gbps",
            f"  transceiver: {_flow(one.transceiver)}",
            f"  nic: {_flow(one.nic, ports=one.nic_ports)}",
            f"  switch_port: {_flow(one.switch_port)}",
            f"  fibres: {one.fibres}  # of a cable",
        ]
    return "\n".join(lines) + "\n"


def _flow(part: bill.Part, **others: int) -> str:
    known = {name: value for name, value in vars(part).items() if value is not None}
    return f"{{{', '.join(f'{name}: {value:g}' for name, value in (known | others).items())}}}"


@click.command("prices")
def prices_command() -> None:
    """Print the prices of parts as YAML, to edit and to pass to `cosim topo show --prices`."""
    click.echo(prices_text(bill.default_prices()), nl=False)
