"""Tables as Parquet files: columns keep their types, and other programs read them fast."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bridge.errors import InputError, ResultError
from topology_gen.files import UnfitFileError, open_regular

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

#: Columns with fractions besides those of times. The others hold integers or names.
_FRACTIONS = frozenset({"throughput_bps", "goodput_bps", "utilization", "slowdown", "fraction"})

#: CSV text of a row group. A smaller one would compress worse, a larger one take more memory.
_GROUP_BYTES = 1 << 20


def require_parquet() -> None:
    """Check that Parquet files can be written and read.

    Raises
    ------
    InputError
        pyarrow is not installed.
    """
    try:
        import pyarrow.parquet  # noqa: F401
    except ModuleNotFoundError:
        raise InputError(
            "Parquet files need pyarrow, which is not installed: "
            "install the extra `parquet` (pip install pyarrow)"
        ) from None


def from_csv(text: bytes) -> bytes:
    """Return a table in CSV as the content of a Parquet file."""
    encoder = ParquetEncoder()
    return encoder.pack(text) + encoder.finish()


def read_rows(file: Path) -> list[dict[str, Any]]:
    """Return the rows of a Parquet file.

    Raises
    ------
    InputError
        pyarrow is not installed.
    ResultError
        The file is not in the format of Parquet.
    """
    rows: list[dict[str, Any]] = _read(file).to_pylist()
    return rows


def read_numbers(file: Path, columns: Sequence[str]) -> NDArray[np.float64]:
    """Return some columns of a Parquet file as an array with a row for each; see `read_rows`."""
    import numpy as np

    table = _read(file, columns)
    if missing := [name for name in columns if name not in table.column_names]:
        raise ResultError(f"{file}: expected a table of a run with the column {missing[0]}")
    return np.stack([table[name].to_numpy() for name in columns], axis=1).astype(np.float64)


def _read(file: Path, columns: Sequence[str] | None = None) -> pa.Table:
    require_parquet()
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with open_regular(file) as content:
            return pq.read_table(content, columns=None if columns is None else list(columns))
    except UnfitFileError as error:
        raise ResultError(f"{file}: {error.strerror}: expected a table of a run") from None
    except (OSError, pa.ArrowException) as error:
        reason = str(error).splitlines()[0]
        raise ResultError(f"{file}: expected a table of a run ({reason})") from None


class ParquetEncoder:
    """Turns the text of a table in CSV into the bytes of a Parquet file, piece by piece.

    Each piece of text consists of whole lines; the first line has the names of the columns.
    """

    def __init__(self) -> None:
        self._held: list[bytes] = []
        self._columns: list[str] = []
        self._writer: Any = None
        self._pieces = _Pieces()

    @property
    def held_bytes(self) -> int:
        """Size of the text that is not encoded yet."""
        return sum(map(len, self._held))

    def pack(self, text: bytes) -> bytes:
        """Take some text, and return what the file now continues with."""
        if not self._columns:
            first, _, text = text.partition(b"\n")
            self._columns = first.decode().split(",")
        self._held.append(text)
        if self.held_bytes >= _GROUP_BYTES:
            self._write()
        return self._pieces.take()

    def finish(self) -> bytes:
        """Return the end of the file."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        self._write()
        if self._writer is None:  # a table without rows
            empty = pa.table({name: [] for name in self._columns if name})
            pq.write_table(empty, pa.PythonFile(self._pieces, mode="w"))
        else:
            self._writer.close()
        return self._pieces.take()

    def _write(self) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        text = b"".join(self._held)
        self._held.clear()
        if not text:
            return
        table = _table(text, self._columns)
        if self._writer is None:
            self._writer = pq.ParquetWriter(
                pa.PythonFile(self._pieces, mode="w"), table.schema, compression="zstd"
            )
        self._writer.write_table(table)


def _table(text: bytes, columns: Sequence[str]) -> pa.Table:
    """Return lines of a table, without the names of its columns."""
    import pyarrow as pa
    from pyarrow import csv

    types = {name: pa.float64() for name in columns if name.endswith("_ns") or name in _FRACTIONS}
    # A switch may be called 7.
    types |= {name: pa.string() for name in columns if name.endswith("_name")}
    return csv.read_csv(
        pa.BufferReader(text),
        csv.ReadOptions(use_threads=False, block_size=len(text) + 1, column_names=columns),
        csv.ParseOptions(newlines_in_values=True),
        csv.ConvertOptions(column_types=types),
    )


class _Pieces(io.RawIOBase):
    """A file whose content is taken away while it is written."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        self._parts.append(bytes(content))
        self._size += len(content)
        return len(content)

    def tell(self) -> int:
        return self._size

    def take(self) -> bytes:
        """Return what was written since the last call."""
        content = b"".join(self._parts)
        self._parts.clear()
        return content
