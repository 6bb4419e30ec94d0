"""Errors about operator graphs and strategies."""

from frontend.errors import ScenarioError


class StrategyError(ScenarioError):
    """Raised for an invalid graph or strategy, or a strategy that does not fit its graph."""
