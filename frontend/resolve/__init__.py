"""Resolve a scenario: derive its layout, network and plan, which the compiler needs."""

from frontend.resolve.checks import check
from frontend.resolve.resolved import Resolved, resolve

__all__ = ["Resolved", "check", "resolve"]
