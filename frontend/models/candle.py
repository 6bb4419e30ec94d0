"""CANDLE Uno: dense layers for each kind of feature, a concatenation, and more dense layers.

Source: the sizes are from W. Wang et al., "TopoOpt", NSDI 2023, Appendix D. The widths of the
features (RNA sequence 942, drug descriptors 5270, drug fingerprints 2048) are from FlexFlow's
example.
"""

from frontend.models.graph import GraphBuilder
from frontend.schema.training import CandleModel


def build(model: CandleModel, graph: GraphBuilder) -> None:
    """Add the operators of CANDLE Uno."""
    stacks = []
    for stack, columns in enumerate(model.features):
        last: list[int] = []
        for number in range(model.feature_layers):
            name = f"feature_{number}" if len(model.features) == 1 else f"feature_{stack}_{number}"
            last = [graph.dense(name, last, model.feature_width, columns=columns)]
        stacks += last
    last = stacks if len(stacks) == 1 else [graph.concatenation("features", stacks)]
    for number in range(model.dense_layers):
        last = [graph.dense(f"dense_{number}", last, model.dense_width)]
    graph.dense("output", last, 1)
