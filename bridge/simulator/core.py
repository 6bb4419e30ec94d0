"""The compiled part, imported once and here only, so that its absence is explained in one place.

Import this module inside the functions that need the simulator: what only reads scenarios
(``cosim validate``, ``cosim compile``) then works without ns-3.
"""

from __future__ import annotations

try:
    from bridge._core import (
        CoreError,
        Network,
        Progress,
        Simulation,
        congestion_controls,
        fabrics,
        ns3_version,
    )
except ModuleNotFoundError as error:
    if error.name != "bridge._core":
        raise
    raise ModuleNotFoundError(
        "bridge._core, the compiled part, is not there: did you forget to build? (`make setup`)",
        name=error.name,
    ) from None
except ImportError as error:
    # The dynamic linker's words for a wheel that was removed or changed after the build.
    if "libns3" not in str(error):
        raise
    raise ImportError(
        f"bridge._core was built, but ns-3's shared libraries cannot be loaded ({error}): install "
        "the `ns3` wheel that it was built with, or build again with `make setup`",
        name="bridge._core",
    ) from error

__all__ = [
    "CoreError",
    "Network",
    "Progress",
    "Simulation",
    "congestion_controls",
    "fabrics",
    "ns3_version",
]
