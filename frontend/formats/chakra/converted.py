"""What the traces of PyTorch's converter leave out: nodes of the host, and types of collectives."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from frontend.formats.chakra.decode import ChakraTrace
from frontend.formats.chakra.schema import ChakraType

Where = NDArray[np.bool_]


def check_dependencies(trace: ChakraTrace) -> None:
    """Check that every node that another one depends on is in the file.

    Raises
    ------
    ScenarioError
        For the first node that depends on another one.
    """
    for node, missing in trace.dangling:
        raise trace.fail(node, f"depends on node {missing}, which the file does not have")


def dangling(trace: ChakraTrace) -> Where:
    """Return which nodes depend on nodes that the file does not have."""
    where = np.zeros(trace.size, np.bool_)
    where[[node for node, _ in trace.dangling]] = True
    return where


def launches(trace: ChakraTrace) -> Where:
    """Return which collectives are only their start on the CPU.

    The converter marks the operator of PyTorch on the CPU as a collective too, without a type. The
    collective itself is another node, on the accelerator.
    """
    where = trace.type == ChakraType.COMM_COLL
    on_cpu: Where = where & (trace.number("is_cpu_op", where, 0) != 0) & ~trace.has("comm_type")
    return on_cpu
