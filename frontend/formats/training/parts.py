"""The parts of a model on a pipeline as text: `--pipeline-model-parallel-layout` of Megatron-LM.

`E` is the embedding, `t` a layer, `m` a module for a further token, `L` the output layer with the
loss, and `|` a border between two chunks. `t*4` repeats a letter or a border, and `(tt|)*3` several
of them; commas mean nothing. Source: NVIDIA/Megatron-LM (d98e8a6),
`megatron/core/transformer/pipeline_parallel_layer_layout.py`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_GROUP = re.compile(r"\(([^()]*)\)\*(\d{1,4})")
_LETTER = re.compile(r"([EtmL|])\*(\d{1,4})")
_MOST = 4096  # letters and borders; a card has at most 1000 layers

_FORM = (
    "expected E (embedding), t (layer), m (module for a further token), L (output layer) and | "
    "between chunks, such as Et*4|(t*4|)*14tmL"
)


class Parts(NamedTuple):
    """What the chunks of a pipeline have, beside the embedding and the output layer."""

    layers: tuple[int, ...]
    """Layers of each chunk, in the model's order."""
    modules: int
    """Modules for further tokens on the last chunk."""


def read_parts(text: str) -> Parts:
    """Return the parts that a text describes.

    Raises
    ------
    ValueError
        If the text has another form, or puts the embedding, the output layer or a module for a
        further token on another chunk than cosim does.

    Examples
    --------
    >>> read_parts("Et*2|(t*3|)*2tmL")
    Parts(layers=(2, 3, 3, 1), modules=1)
    """
    letters = _LETTER.sub(_repeat, _within(_GROUP.sub(_repeat, text.replace(",", ""))))
    every = _within(letters).split("|")
    if set(letters) - set("EtmL|"):
        raise ValueError(_FORM)
    if letters.find("E") or letters.count("E") > 1:
        raise ValueError("expected one E, the first letter: the first chunk has the embedding")
    if letters.find("L") != len(letters) - 1:
        raise ValueError("expected one L, the last letter: the last chunk has the output layer")
    if any("m" in chunk for chunk in every[:-1]):
        raise ValueError("expected m only behind the last |: the last chunk has all modules")
    if "mt" in every[-1]:
        raise ValueError("expected m behind all t: modules for further tokens follow the layers")
    return Parts(tuple(chunk.count("t") for chunk in every), every[-1].count("m"))


def _repeat(match: re.Match[str]) -> str:
    return match[1] * int(match[2])


def _within(text: str) -> str:
    if len(text) > _MOST:
        raise ValueError(f"expected at most {_MOST} letters and borders")
    return text
