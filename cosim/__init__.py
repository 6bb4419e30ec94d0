"""The package that users import: ``import cosim`` offers the public names of `bridge`.

The names are imported when they are used.
"""

from typing import TYPE_CHECKING

from bridge import __all__ as __all__
from topology_gen.lazy import importer

if TYPE_CHECKING:
    from bridge import *  # noqa: F403

__getattr__ = importer(__name__, dict.fromkeys(__all__, "bridge"))


def __dir__() -> list[str]:
    return __all__
