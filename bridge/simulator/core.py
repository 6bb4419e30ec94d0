"""Imports the compiled module, in one place, so that one message explains why it is missing.

Import this module inside the functions that need the simulator. Commands that only read scenarios
(``cosim validate``, ``cosim compile``) then work without ns-3.
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
        ns3_has_failed,
        ns3_version,
    )
except ModuleNotFoundError as error:
    if error.name != "bridge._core":
        raise
    raise ModuleNotFoundError(
        "the compiled module bridge._core is missing: did you forget to build? (`make setup`)",
        name=error.name,
    ) from None
except ImportError as error:
    # This is the dynamic linker's message if the wheel was removed or changed after the build.
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
    "ns3_has_failed",
    "ns3_version",
]
