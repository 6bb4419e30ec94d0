"""The number of segments of a chunk, which form a pipeline through a tree or a chain."""

SEGMENT_PARTS = 256
"""With `segments: auto`, chunks × segments is about this number. Filling the pipeline then costs a
few percent: a double binary tree of 128 ranks is 14 hops deep, up and down."""

SEGMENT_BYTES = 8192
"""With `segments: auto`, no segment is smaller than this: about one packet of a 9000-byte MTU."""


def segments_of(given: int | str, chunks: int, chunk_bytes: int, trees: int = 2) -> int:
    """Return the number of segments of a chunk. Each of the trees carries an equal part of it.

    Parameters
    ----------
    given : int or "auto"
        The value in the scenario.
    chunks, chunk_bytes : int
        Number of chunks of the collective, and size of each in bytes.
    trees : int
        Number of trees.

    Examples
    --------
    >>> segments_of("auto", 1, 160_000)  # 80 000 bytes in segments of at least 8 KiB
    9
    """
    if isinstance(given, int):
        return given
    return max(1, min(SEGMENT_PARTS // chunks, chunk_bytes // trees // SEGMENT_BYTES))
