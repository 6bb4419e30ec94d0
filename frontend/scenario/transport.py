"""`transport`: the connections of a scenario, and how those of a job differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Union

from pydantic import Field

from frontend.schema.base import Model
from frontend.schema.transport import Transport as Common
from frontend.transports import DEFAULT, PROTOCOLS
from frontend.transports.roce import RoceTransport
from frontend.transports.tcp import TcpTransport

if TYPE_CHECKING:
    # A type checker sees the models of this package, not those of installed plug-ins.
    Transport = TcpTransport | RoceTransport
else:
    _transports = tuple(entry.model for entry in PROTOCOLS.values())
    Transport = (
        Annotated[Union[_transports], Field(discriminator="protocol")]  # noqa: UP007
        if len(_transports) > 1
        else _transports[0]  # pydantic has no unions of one model
    )


def with_protocol(value: Any) -> Any:
    """Let a transport without `protocol` be that of the default protocol."""
    if isinstance(value, Mapping) and "protocol" not in value:
        return {"protocol": DEFAULT, **value}
    return value


def with_protocols_of_jobs(data: Any, *, missing: bool = False) -> Any:
    """Let the transports of jobs without `protocol` have the protocol of the scenario.

    Parameters
    ----------
    data : any
        The content of a scenario.
    missing : bool
        Whether jobs without a transport get one with this protocol.
    """
    if not isinstance(data, Mapping) or not isinstance(data.get("jobs"), list | tuple):
        return data
    whole = data.get("transport")
    protocol = whole.get("protocol", DEFAULT) if isinstance(whole, Mapping) else DEFAULT
    jobs = [
        {**job, "transport": {"protocol": protocol, **(own or {})}}
        if isinstance(job, Mapping) and (isinstance(own, Mapping) or (missing and own is None))
        else job
        for job in data["jobs"]
        for own in [job.get("transport") if isinstance(job, Mapping) else None]
    ]
    return {**data, "jobs": jobs}


def given_keys(transport: Model | None) -> dict[str, Any] | None:
    """Return the keys that a job gives, in JSON; the others are those of the scenario."""
    return None if transport is None else transport.model_dump(mode="json", exclude_unset=True)


def transport_of(whole: Transport, own: Transport | None) -> Transport:
    """Return the transport of a job: what it gives, and otherwise that of the scenario.

    With another protocol, the scenario has only what all protocols have in common.
    """
    if own is None:
        return whole
    if own.protocol != whole.protocol:
        given = own.model_fields_set
        both = [key for key in Common.model_fields if key != "protocol" and key not in given]
        return own.model_copy(update={key: getattr(whole, key) for key in both})
    merged: Transport = _over(whole, own)
    return merged


def _over(whole: Any, own: Any) -> Any:
    """Return a part of a scenario with the keys that are given in another one."""
    if not isinstance(own, Model) or type(own) is not type(whole):
        return own
    given = own.model_fields_set
    return whole.model_copy(
        update={name: _over(getattr(whole, name), getattr(own, name)) for name in given}
    )
