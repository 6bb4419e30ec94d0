"""NCF: matrix factorisation beside dense layers, each with tables of users and items.

Source: X. He et al., "Neural collaborative filtering", WWW 2017. The sizes are from W. Wang et al.,
"TopoOpt", NSDI 2023, Appendix D.
"""

from frontend.models.graph import GraphBuilder
from frontend.schema.training import NcfModel


def build(model: NcfModel, graph: GraphBuilder) -> None:
    """Add the operators of NCF. Tables come first, so all their transfers begin early."""
    kinds = (("user", model.user_tables, model.users), ("item", model.item_tables, model.items))

    def tables(part: str, dimension: int) -> list[list[int]]:
        return [
            [
                graph.table(
                    f"{part}_{kind}_{number}",
                    rows,
                    dimension,
                    lookups=model.pooling,
                    pooled=True,
                    accesses=model.update_accesses,
                )
                for number in range(count)
            ]
            for kind, count, rows in kinds
        ]

    mlp = tables("mlp", model.mlp_dimension)
    mf = tables("mf", model.mf_dimension)
    last = graph.concatenation("mlp_features", [*mlp[0], *mlp[1]])
    for number in range(model.dense_layers):
        last = graph.dense(f"dense_{number}", [last], model.dense_width)
    users, items = (
        graph.concatenation(f"mf_{kind}", part)
        for (kind, _, _), part in zip(kinds, mf, strict=True)
    )
    factors = graph.product("mf_product", (users, items))
    both = graph.concatenation("factors", [factors, last])
    graph.dense("output", [both], 1)
