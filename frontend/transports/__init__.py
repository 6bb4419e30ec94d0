"""Transport protocols: each entry has the protocol's model, its checks, and its record.

To add a protocol, write a module with an entry, and add it to the list below. The stream's
`Settings` needs a field with its name.
"""

from typing import Any

from frontend.transports import roce, tcp
from frontend.transports.registry import PROTOCOLS, Protocol, Thresholds

_PROTOCOLS: tuple[Protocol[Any], ...] = (tcp.PROTOCOL, roce.PROTOCOL)
for _protocol in _PROTOCOLS:
    PROTOCOLS.register(_protocol)

DEFAULT = tcp.PROTOCOL.name
"""The protocol of a scenario that names none."""

__all__ = ["DEFAULT", "PROTOCOLS", "Protocol", "Thresholds"]
