"""What can be wrong with an operator graph or a strategy."""

from frontend.errors import ScenarioError


class StrategyError(ScenarioError):
    """A graph or strategy that cannot be, or a strategy that does not fit its graph."""
