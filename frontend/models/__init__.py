"""Models for `kind: training`: each builds a graph of operators from its parameters."""

from collections.abc import Callable
from typing import Any

from frontend.models import bert, candle, dlrm, ncf, resnet50, vgg16
from frontend.models.graph import GraphBuilder
from frontend.parallelization import OperatorGraph
from frontend.schema.training import Training

_BUILDERS: dict[str, Callable[[Any, GraphBuilder], None]] = {
    module.__name__.rpartition(".")[2]: module.build
    for module in (dlrm, candle, bert, ncf, resnet50, vgg16)
}


def operator_graph(workload: Training, servers: int) -> OperatorGraph:
    """Return the operator graph of a workload's model, with the batch of `servers` servers."""
    model = workload.model
    graph = GraphBuilder(workload.element, workload.gradient_element)
    _BUILDERS[model.name](model, graph)
    batch = workload.batch_per_gpu * workload.gpus * servers
    return OperatorGraph(model.name, tuple(graph.operators), batch)
