"""DLRM: embedding tables and dense layers, their interaction, and more dense layers.

Source: M. Naumov et al., "Deep learning recommendation model for personalization and recommendation
systems", 2019. The sizes are from W. Wang et al., "TopoOpt", NSDI 2023, Appendix D, read as its
published scripts do:

- For the simulations (sections 5.3, 5.4 and 5.6), the dense layers (8 widths of 2048) are below the
  interaction, a concatenation, and the feature layers (16 widths of 4096, then 1) above it. The
  scripts list widths: the first width of a list is that of the input, so these are 7 and 15 layers.
- For the testbed (section 6), the feature layers (2048) are below the interaction, a dot product,
  and the dense layers (1024) above it.
"""

from frontend.models.graph import GraphBuilder
from frontend.schema.training import DlrmModel


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
    if model.interaction == "dot":
        last = [graph.dense("projection", last, model.dimension)]
        last = [graph.dot_products("features", [*last, *tables])]
    else:
        last = [graph.concatenation("features", [*tables, *last])]
    for number in range(model.feature_layers):
        last = [graph.dense(f"feature_{number}", last, model.feature_width)]
    graph.dense("output", last, 1)
