"""VGG-16: groups of 3×3 convolutions, each followed by a pooling, and three dense layers.

Source: K. Simonyan, A. Zisserman, "Very deep convolutional networks for large-scale image
recognition", ICLR 2015, Table 1, D.
"""

from frontend.models.graph import GraphBuilder
from frontend.schema.training import Vgg16Model

_FIRST, _MOST = 64, 512  # channels of the first group, which double per group, and their maximum


def build(model: Vgg16Model, graph: GraphBuilder) -> None:
    """Add the operators of VGG-16."""
    last: list[int] = []
    side, channels = model.image, 3
    for group, count in enumerate(model.convolutions):
        wider = min(_FIRST << group, _MOST)
        for number in range(count):
            name = f"convolution_{group}_{number}"
            last = [graph.convolution(name, last, (channels, wider), side, 3)]
            channels = wider
        side //= 2
        last = [graph.pool(f"pool_{group}", last[0], channels, side, 2)]
    for number in range(2):
        last = [graph.dense(f"dense_{number}", last, model.dense_width)]
    graph.dense("output", last, model.classes)
