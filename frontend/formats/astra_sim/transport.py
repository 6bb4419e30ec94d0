"""The TCP of an imported run, which must not hold back what ASTRA-sim sends at once."""

from __future__ import annotations

from frontend.formats.astra_sim.network import ImportedNetwork

_SMALLEST = 1 << 20
_LARGEST = 1 << 30  # TCP's largest window, as a power of two


def transport(network: ImportedNetwork) -> dict[str, str]:
    """Return the scenario's `transport`: a window of four round trips of the longest path.

    Messages of ASTRA-sim know no window. Four round trips leave room for those that wait in queues.

    Parameters
    ----------
    network : ImportedNetwork
        The network.
    """
    window = _SMALLEST
    while window < min(4 * network.round_trip_bytes, _LARGEST):
        window *= 2
    return {"window": f"{window >> 20}MiB"}
