"""Build operator graphs layer by layer, with the cost of each layer.

Costs are per sample. A layer reads its inputs once and writes its outputs once. Activation
functions are part of the layer before them. In the backward phase, a layer with weights is computed
twice: for the gradients of its inputs and for those of its weights. A layer that reads the training
data is computed once, for the gradients of its weights.
"""

from collections.abc import Sequence

from frontend.parallelization import Operator
from frontend.roofline import Cost

# Memory accesses per value. Forward: read the values for mean and deviation, read again, write.
_NORM_FORWARD = 3
# Backward: read values and gradients for two sums, read both again, and write one gradient.
_NORM_BACKWARD = 5


class GraphBuilder:
    """Collects the operators of a model. Methods that add an operator return its index.

    Parameters
    ----------
    element_bytes : int
        Size of a weight, an activation or a gradient in bytes.
    gradient_bytes : int, optional
        Size of a weight's gradient in an all-reduce, if it is another.
    """

    def __init__(self, element_bytes: int, gradient_bytes: int | None = None) -> None:
        self.element_bytes = element_bytes
        self.gradient_scale = 1.0 if gradient_bytes is None else gradient_bytes / element_bytes
        self.operators: list[Operator] = []

    def elements(self, index: int) -> int:
        """Return the number of elements in an operator's output for one sample."""
        return self.operators[index].output_bytes // self.element_bytes

    def dense(
        self,
        name: str,
        inputs: Sequence[int],
        width: int,
        *,
        columns: int | None = None,
        rows: int = 1,
        norm: bool = False,
        parts: int | None = None,
    ) -> int:
        """Add a fully connected layer with a bias.

        Parameters
        ----------
        name : str
            Name of the operator.
        inputs : sequence of int
            Indices of the operators that it reads. The layer multiplies the first input by its
            weights and adds the others to the product.
        width : int
            Number of outputs per vector.
        columns : int, optional
            Number of inputs per vector, for a layer that reads the training data.
        rows : int
            Number of vectors per sample.
        norm : bool
            Whether a layer normalisation follows, with two parameters per output.
        parts : int, optional
            Number of parts that the outputs can be split into; `width` by default.
        """
        if inputs:
            columns = self.elements(inputs[0]) // rows
        assert columns is not None
        read, written = rows * columns, rows * width
        flop = 2 * read * width
        added = (len(inputs) - 1) * written if inputs else 0
        passes = 2 if inputs else 1
        return self._add(
            name,
            inputs,
            Cost(flop, read + written + added + norm * _NORM_FORWARD * written),
            Cost(
                passes * flop,
                passes * (read + written) + added + norm * _NORM_BACKWARD * written,
            ),
            weights=width * (columns + 1 + 2 * norm),
            output=written,
            parts=width if parts is None else parts,
            rows=columns,
            aligned=tuple(range(1, len(inputs))),
            gathered=read + added if inputs else 0,
        )

    def convolution(
        self,
        name: str,
        inputs: Sequence[int],
        channels: tuple[int, int],
        side: int,
        kernel: int,
        *,
        stride: int = 1,
        norm: bool = False,
    ) -> int:
        """Add a convolution whose output has ceil(side / stride) × ceil(side / stride) pixels.

        Parameters
        ----------
        name : str
            Name of the operator.
        inputs : sequence of int
            Indices of the operators that it reads. The layer convolves the first input and adds
            the others to the output.
        channels : (int, int)
            Number of channels of the input and of the output.
        side, kernel, stride : int
            Side of the input, side of the kernel, and distance between outputs, in pixels.
        norm : bool
            Whether a batch normalisation with two parameters per channel replaces the bias.
        """
        before, after = channels
        out = -(-side // stride)
        read, written = before * side**2, after * out**2
        flop = 2 * before * kernel**2 * written
        added = (len(inputs) - 1) * written if inputs else 0
        passes = 2 if inputs else 1
        return self._add(
            name,
            inputs,
            Cost(flop, read + written + added + norm * _NORM_FORWARD * written),
            Cost(
                passes * flop,
                passes * (read + written) + added + norm * _NORM_BACKWARD * written,
            ),
            weights=after * (before * kernel**2 + (2 if norm else 1)),
            output=written,
            parts=after,
            rows=before,
            aligned=tuple(range(1, len(inputs))),
            gathered=read + added if inputs else 0,
        )

    def pool(self, name: str, source: int, channels: int, out: int, kernel: int) -> int:
        """Add a pooling to `out` × `out` pixels; each one reads `kernel` × `kernel` pixels."""
        read, written = self.elements(source), channels * out**2
        cost = Cost(written * kernel**2, read + written)
        return self._add(name, [source], cost, cost, output=written, parts=channels, aligned=(0,))

    def table(
        self, name: str, rows: int, dimension: int, *, lookups: int, pooled: bool, accesses: int = 2
    ) -> int:
        """Add an embedding table. A look-up reads `lookups` rows and sums them if they are pooled.

        The backward phase updates these rows, with `accesses` memory accesses per element.
        """
        looked, written = lookups * dimension, dimension * (1 if pooled else lookups)
        return self._add(
            name,
            [],
            Cost(looked if pooled else 0, looked + written),
            Cost(looked, written + accesses * looked),
            weights=rows * dimension,
            output=written,
            parts=dimension,
            rows=rows,
            table=True,
        )

    def concatenation(self, name: str, inputs: Sequence[int]) -> int:
        """Add the concatenation of outputs. It copies outputs forward, and gradients backward."""
        written = sum(map(self.elements, inputs))
        cost = Cost(0, 2 * written)
        return self._add(name, inputs, cost, cost, output=written)

    def dot_products(self, name: str, inputs: Sequence[int]) -> int:
        """Add the dot products of all pairs of vectors, beside a copy of the first vector.

        The forward phase multiplies the matrix of the vectors by its transpose. The backward phase
        multiplies the gradient of this product by the matrix, for each of both factors.
        """
        width = self.elements(inputs[0])
        count = len(inputs)
        pairs = count * (count - 1) // 2
        read, written = count * width, pairs + width
        flop = 2 * count**2 * width
        return self._add(
            name,
            inputs,
            Cost(flop, read + written),
            Cost(2 * flop, 2 * read + written),
            output=written,
        )

    def product(self, name: str, inputs: tuple[int, int]) -> int:
        """Add the element-wise product of two outputs."""
        written = self.elements(inputs[0])
        return self._add(
            name, inputs, Cost(written, 3 * written), Cost(2 * written, 5 * written), output=written
        )

    def sum(self, name: str, inputs: Sequence[int], rows: int) -> int:
        """Add the sum of outputs with `rows` vectors per sample, and its layer normalisation."""
        written = self.elements(inputs[0])
        count = len(inputs)
        return self._add(
            name,
            inputs,
            Cost(count * written, (count + 1 + _NORM_FORWARD) * written),
            Cost(written, (count + 1 + _NORM_BACKWARD) * written),
            weights=2 * written // rows,
            output=written,
        )

    def first(self, name: str, source: int, count: int) -> int:
        """Add an operator that keeps the first `count` elements of an output."""
        cost = Cost(0, 2 * count)
        return self._add(name, [source], cost, cost, output=count)

    def attention(self, name: str, source: int, tokens: int, heads: int, head_width: int) -> int:
        """Add the attention between the tokens of a sample; it reads queries, keys and values."""
        scores, width = heads * tokens**2, heads * head_width
        flop = 2 * 2 * scores * head_width  # scores, and weighted sums of values
        # Scores are written once, read and written by the softmax, and read once more.
        moved = 4 * tokens * width + 4 * scores
        return self._add(
            name,
            [source],
            Cost(flop, moved),
            Cost(2 * flop, 2 * moved),
            output=tokens * width,
            parts=heads,
            aligned=(0,),
            gathered=3 * tokens * width,
        )

    def experts(
        self,
        name: str,
        source: int,
        tokens: int,
        feed_forward: int,
        experts: int,
        chosen: int,
    ) -> int:
        """Add a mixture of experts: feed-forward networks, of which each token takes some.

        A dense layer chooses the experts. The dispatch copies each token once per chosen expert.
        Experts are the parts of the operator after it, so servers that divide it have some of the
        experts, and receive only their tokens: an equal number for each expert. The last operator
        adds the experts' outputs to the token, and normalises the sum.
        """
        width = self.elements(source) // tokens
        gate = self.dense(f"{name}_gate", [source], experts, rows=tokens, parts=1)
        copies = chosen * tokens
        moved = Cost(0, tokens * width + copies * width)
        dispatch = self._add(
            f"{name}_dispatch", [source, gate], moved, moved, output=copies * width
        )
        flop = 2 * 2 * copies * width * feed_forward
        traffic = 2 * copies * (width + feed_forward)  # two layers, each reads and writes
        mixed = self._add(
            f"{name}_experts",
            [dispatch],
            Cost(flop, traffic),
            Cost(2 * flop, 2 * traffic),
            weights=experts * (2 * width * feed_forward + feed_forward + width),
            output=copies * width,
            parts=experts,
            aligned=(0,),
            gathered=copies * width,
        )
        added, written = copies * width, tokens * width
        return self._add(
            f"{name}_combine",
            [mixed, source],
            Cost(added + written, added + (2 + _NORM_FORWARD) * written),
            Cost(added, added + (2 + _NORM_BACKWARD) * written),
            weights=2 * width,
            output=written,
        )

    def _add(
        self,
        name: str,
        inputs: Sequence[int],
        forward: Cost,
        backward: Cost,
        *,
        output: int,
        weights: int = 0,
        parts: int = 1,
        table: bool = False,
        rows: int = 1,
        aligned: tuple[int, ...] = (),
        gathered: int = 0,
    ) -> int:
        """Append an operator; memory accesses, weights and data are given in elements."""
        size = self.element_bytes
        self.operators.append(
            Operator(
                name,
                tuple(inputs),
                Cost(forward.flop, forward.memory_bytes * size),
                Cost(backward.flop, backward.memory_bytes * size),
                weight_bytes=weights * size,
                weight_traffic=0 if table else weights * size,
                output_bytes=output * size,
                parts=parts,
                table=table,
                rows=rows,
                aligned=aligned,
                input_bytes=gathered * size,
                gradient_scale=self.gradient_scale,
            )
        )
        return len(self.operators) - 1
