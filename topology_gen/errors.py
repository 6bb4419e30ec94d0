"""The exceptions of this package."""


class TopologyError(ValueError):
    """The base class of all exceptions of this package."""


class RankCountError(TopologyError):
    """A number of ranks that is too small or does not divide into its groups."""


class LinkError(TopologyError):
    """A rate, a latency or a buffer of a link that is out of range."""


class PathError(TopologyError):
    """A pair of nodes without a path between them."""


class ParameterError(TopologyError):
    """A parameter of a family that is out of range, such as a negative size.

    Attributes
    ----------
    parameter : str
        The argument of the function that made the error; empty if it is not one argument's fault.
    """

    def __init__(self, message: str, parameter: str = "") -> None:
        super().__init__(message)
        self.parameter = parameter


class DegreeError(TopologyError):
    """A digraph that is not regular, or whose degree is 0."""


class ConnectivityError(TopologyError):
    """A digraph in which a node cannot reach another."""


class EdgeListError(TopologyError):
    """A list of edges that cannot be read."""


class SpecError(TopologyError):
    """A `family:key=value,…` with an unknown family or key, or a value that cannot be read."""


class ScheduleError(TopologyError):
    """A schedule that does not do what its collective operation promises."""


class AlgorithmError(TopologyError):
    """An algorithm of thread blocks that is not valid, or that a file format cannot hold."""


class FileFormatError(TopologyError):
    """A file that does not follow its format."""


class DemandError(TopologyError):
    """A description of a job's transfers that is not valid."""


class CostError(TopologyError):
    """A network whose cost cannot be computed."""


class RegistrationError(TopologyError):
    """A name that is registered twice, or an entry that is not what its registry expects."""


class RegistrationWarning(UserWarning):
    """Issued for an entry of an installed package that cannot be loaded and is left out."""
