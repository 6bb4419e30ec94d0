"""From a scenario, which is data, to what is compiled: its layout, its network and its plan."""

from frontend.resolve.checks import check
from frontend.resolve.resolved import Resolved, resolve

__all__ = ["Resolved", "check", "resolve"]
