"""BERT: embeddings of tokens, positions and segments, and blocks of attention and dense layers.

Source: J. Devlin et al., "BERT: pre-training of deep bidirectional transformers for language
understanding", NAACL 2019. The sizes are from W. Wang et al., "TopoOpt", NSDI 2023, Appendix D.
There, embeddings are narrower than the blocks, so a projection follows them, as in ALBERT. Experts
in place of feed-forward networks are those of W. Fedus et al., "Switch transformers", JMLR 2022.
"""

from frontend.models.graph import GraphBuilder
from frontend.schema.training import BertModel


def build(model: BertModel, graph: GraphBuilder) -> None:
    """Add the operators of BERT. The last one is the dense layer on the first token."""
    tokens, hidden = model.sequence, model.hidden
    tables = [
        graph.table(name, rows, model.embedding, lookups=tokens, pooled=False)
        for name, rows in (
            ("tokens", model.vocabulary),
            ("positions", model.positions),
            ("segments", model.segments),
        )
    ]
    last = graph.sum("embedding", tables, tokens)
    if model.embedding != hidden:
        last = graph.dense("projection", [last], hidden, rows=tokens)
    for number in range(model.blocks):
        block = f"block_{number}"
        before = last
        last = graph.dense(f"{block}_qkv", [before], 3 * hidden, rows=tokens)
        last = graph.attention(
            f"{block}_attention", last, tokens, model.heads, hidden // model.heads
        )
        last = graph.dense(f"{block}_projection", [last, before], hidden, rows=tokens, norm=True)
        if model.experts and number % model.expert_blocks == model.expert_blocks - 1:
            last = graph.experts(
                block, last, tokens, model.feed_forward, model.experts, model.experts_per_token
            )
            continue
        before = last
        last = graph.dense(f"{block}_up", [last], model.feed_forward, rows=tokens)
        last = graph.dense(f"{block}_down", [last, before], hidden, rows=tokens, norm=True)
    last = graph.first("first_token", last, hidden)
    graph.dense("pooler", [last], hidden)
