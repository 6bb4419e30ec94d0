"""Names of the dimension and the level in which a phase of a program takes its slots.

A program over several levels has phases in `scale_out/0`, `scale_out/1` and so on. A name without a
level stands for level 0.
"""


def in_level(dimension: str, level: int) -> str:
    """Return the name of a level of a dimension.

    Examples
    --------
    >>> in_level("scale_out", 1)
    'scale_out/1'
    """
    return f"{dimension}/{level}"


def dimension_and_level(name: str) -> tuple[str, int]:
    """Return the dimension and the level of a name.

    Examples
    --------
    >>> dimension_and_level("scale_out/1"), dimension_and_level("scale_up")
    (('scale_out', 1), ('scale_up', 0))
    """
    dimension, _, level = name.partition("/")
    return dimension, int(level or 0)
