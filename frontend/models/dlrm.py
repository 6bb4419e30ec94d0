"""DLRM: embedding tables and dense layers, a concatenation, and more dense layers.

Source: M. Naumov et al., "Deep learning recommendation model for personalization and recommendation
systems", 2019. The sizes are from W. Wang et al., "TopoOpt", NSDI 2023, Appendix D. Features are
concatenated as in FlexFlow's example.
"""

from frontend.models.graph import GraphBuilder
from frontend.schema.models import DlrmModel


def build(model: DlrmModel, graph: GraphBuilder) -> None:
    """Add the operators of DLRM. Tables come first, so dense layers overlap their transfers."""
    tables = [
        graph.table(
            f"table_{number}",
            model.rows,
            model.dimension,
            lookups=model.pooling,
            pooled=True,
            accesses=model.update_accesses,
        )
        for number in range(model.tables)
    ]
    last: list[int] = []
    for number in range(model.dense_layers):
        name = f"dense_{number}"
        last = [graph.dense(name, last, model.dense_width, columns=model.dense_features)]
    last = [graph.concatenation("features", [*tables, *last])]
    for number in range(model.feature_layers):
        last = [graph.dense(f"feature_{number}", last, model.feature_width)]
    graph.dense("output", last, 1)
