"""What can be wrong with a network that is asked for."""


class TopologyError(ValueError):
    """Any error of this package."""


class RankCountError(TopologyError):
    """A number of ranks that is too small or does not divide into its groups."""


class LinkError(TopologyError):
    """A link whose rate, latency or buffer cannot be."""


class PathError(TopologyError):
    """A pair of nodes between which there is no path."""
