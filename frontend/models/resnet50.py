"""ResNet-50: stages of residual blocks. A block has a 1×1, a 3×3 and a 1×1 convolution.

Source: K. He et al., "Deep residual learning for image recognition", CVPR 2016, Table 1. The 3×3
convolution in the first block of a stage has the stride, as in today's implementations.
"""

from frontend.models.graph import GraphBuilder
from frontend.schema.training import Resnet50Model

_STEM, _WIDEN = 64, 4  # channels of the first stage; factor for a block's last convolution


def build(model: Resnet50Model, graph: GraphBuilder) -> None:
    """Add the operators of ResNet-50."""
    last = graph.convolution("stem", [], (3, _STEM), model.image, 7, stride=2, norm=True)
    side = -(-model.image // 2)
    out = -(-side // 2)
    last = graph.pool("stem_pool", last, _STEM, out, 3)
    side, channels = out, _STEM
    for stage, blocks in enumerate(model.blocks):
        inner = _STEM << stage
        for number in range(blocks):
            stride = 2 if stage and not number else 1
            block = f"stage_{stage}_{number}"
            shortcut = last
            if not number:
                shape = (channels, inner * _WIDEN)
                name = f"{block}_shortcut"
                shortcut = graph.convolution(name, [last], shape, side, 1, stride=stride, norm=True)
            last = graph.convolution(f"{block}_a", [last], (channels, inner), side, 1, norm=True)
            last = graph.convolution(
                f"{block}_b", [last], (inner, inner), side, 3, stride=stride, norm=True
            )
            side = -(-side // stride)
            channels = inner * _WIDEN
            last = graph.convolution(
                f"{block}_c", [last, shortcut], (inner, channels), side, 1, norm=True
            )
    last = graph.pool("pool", last, channels, 1, side)
    graph.dense("output", [last], model.classes)
