"""What can be wrong with a network that is asked for."""


class TopologyError(ValueError):
    """Any error of this package."""


class RankCountError(TopologyError):
    """A number of ranks that is too small or does not divide into its groups."""


class LinkError(TopologyError):
    """A link whose rate, latency or buffer cannot be."""


class PathError(TopologyError):
    """A pair of nodes between which there is no path."""


class ParameterError(TopologyError):
    """A parameter of a family that cannot be, such as a negative size."""


class DegreeError(TopologyError):
    """A digraph that is not regular, or regular of degree 0."""


class ConnectivityError(TopologyError):
    """A digraph in which some node does not reach another."""


class EdgeListError(TopologyError):
    """A list of edges that cannot be read."""


class SpecError(TopologyError):
    """A `family:key=value,…` with an unknown family or key, or a value that cannot be read."""


class ScheduleError(TopologyError):
    """A schedule that does not do what its collective promises."""


class AlgorithmError(TopologyError):
    """An algorithm of thread blocks that cannot be, or that a format cannot hold."""


class FileFormatError(TopologyError):
    """A file that is not what its format says."""


class DemandError(TopologyError):
    """A job's transfers that cannot be."""


class CostError(TopologyError):
    """A network that has no price."""


class RegistrationError(TopologyError):
    """A name that is registered twice, or an installed package whose entry cannot be loaded."""
