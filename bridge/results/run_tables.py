"""The tables that a run writes beside result.json: links, flows, completion times, collectives."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO, TextIOWrapper
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bridge.errors import ResultError
from bridge.results import parquet
from topology_gen.files import MOST_RECORD_BYTES, open_regular, read_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: The tables, with what they hold. The name of the file is the name of the table with its format,
#: ``.csv`` or ``.parquet``.
TABLES = {
    "links": "a row per directed link: rate, bytes, utilization, drops, marks, longest queue",
    "flows": "a row per flow: completion times, those in an empty network, slowdown, losses",
    "fct": "completion times of the messages: a row per quantile",
    "collectives": "a row per collective, as in result.json",
    "pauses": "a row per pause of a port, if switches are lossless: its time, and how it came",
}

#: Time series, which a scenario asks for (`outputs.series`) and the simulator writes while it runs.
SERIES = ("link_series", "flow_series")

#: Those that only the simulator knows.
MEASURED = ("links", "flows", "fct", "pauses")


#: The columns that pages and pictures read.
_READ = {
    "links": (
        *("link", "source", "target", "dimension", "wire_bytes"),
        *("utilization", "drops", "ecn_marks", "max_queue_bytes"),
    ),
    "flows": ("source", "target", "fct_max_ns", "slowdown", "retransmissions", "rto_events"),
    "fct": ("fraction", "fct_ns"),
    "pauses": ("start_ns", "end_ns", "link", "source", "target", "hops"),
}

#: Of their columns, these hold names. All others hold numbers that are not negative.
_NAMES = ("dimension", "source_name", "target_name")

#: Of the numbers, these count links and nodes from 0, and are at most so large.
_INDICES = ("link", "source", "target")
_GREATEST_INDEX = 2**24

#: All others are at most so large: bytes, bit/s and ns have 64 bits.
_GREATEST = 2.0**64

#: Formats of the files of tables.
FORMATS = ("csv", "parquet")


class RunTables:
    """The measured tables, as texts in memory or as files in the folder of a result.

    Two objects are equal if their tables are.
    """

    def __init__(self, texts: Mapping[str, str] | None = None, folder: Path | None = None) -> None:
        self._texts = dict(texts or {})
        self._folder = folder

    def rows(self, name: str) -> list[dict[str, Any]]:
        """Return the rows of a table, with numbers as numbers; none if there is no table.

        Raises
        ------
        InputError
            The table is a Parquet file, and pyarrow is not installed.
        ResultError
            The file is not such a table.
        """
        return self.find(name) or []

    def find(self, name: str) -> list[dict[str, Any]] | None:
        """Return the rows of a table, or None if the result does not have it; see `rows`."""
        text = self._text(name)
        if text is not None:
            return list(self._parse(name, text))
        file = self.file(f"{name}.parquet")
        if file is None:
            return None
        rows = parquet.read_rows(file)
        for number, row in enumerate(rows, start=1):
            _check(name, row, f"{file}: row {number}")
        return rows

    def file(self, name: str) -> Path | None:
        """Return a file in the folder of the result, or None if there is none."""
        file = None if self._folder is None else self._folder / name
        return file if file is not None and file.exists() else None

    def numbers(self, name: str, columns: Sequence[str]) -> NDArray[np.float64] | None:
        """Return some columns of a file, which hold numbers; shape (rows, columns).

        Returns
        -------
        array or None
            None if there is no such file.

        Raises
        ------
        InputError
            The table is a Parquet file, and pyarrow is not installed.
        ResultError
            The file is not such a table.
        """
        file = self.file(f"{name}.csv")
        if file is None:
            packed = self.file(f"{name}.parquet")
            if packed is None:
                return None
            return _checked(parquet.read_numbers(packed, columns), columns, packed)
        import numpy as np

        try:
            with TextIOWrapper(open_regular(file), encoding="utf-8") as lines:
                known = lines.readline().strip().split(",")
                places = [known.index(column) for column in columns]
                with warnings.catch_warnings(action="ignore"):  # about a table without rows
                    rows = np.loadtxt(lines, delimiter=",", usecols=places, ndmin=2)
        except OSError as error:
            raise ResultError(f"{file}: {error.strerror}: expected a table of a run") from None
        except ValueError as error:
            raise ResultError(f"{file}: expected a table of a run ({error})") from None
        return _checked(rows, columns, file)

    def contents(
        self, collectives: Sequence[Mapping[str, Any]], form: str = "csv"
    ) -> Iterator[tuple[str, bytes]]:
        """Yield name and content of each file of the tables; none if this is not of a run.

        Parameters
        ----------
        collectives : sequence of mapping
            The rows of the table of collectives.
        form : str
            One of `FORMATS`.
        """
        if not self._is_measured():
            return
        measured = ((name, self._text(name)) for name in MEASURED)
        for name, text in chain(measured, [("collectives", _csv(collectives))]):
            if text is not None:
                content = text.encode()
                yield f"{name}.{form}", parquet.from_csv(content) if form == "parquet" else content

    def outdated(self, form: str) -> list[str]:
        """Return the files of earlier runs that `contents` of a format does not replace: those in
        other formats, and tables that this run does not have."""
        if not self._is_measured():
            return []
        lacking = [name for name in MEASURED if self._text(name) is None]
        others = [f"{name}.{one}" for name in TABLES for one in FORMATS if one != form]
        return [*others, *(f"{name}.{form}" for name in lacking)]

    def _is_measured(self) -> bool:
        return any(self._text(name) is not None for name in MEASURED)

    def _text(self, name: str) -> str | None:
        """Return the CSV text of a table, or None if there is none."""
        if name not in self._texts and self._folder is not None:
            file = self._folder / f"{name}.csv"
            try:
                self._texts[name] = read_text(file, MOST_RECORD_BYTES)
            except FileNotFoundError:
                return None
            except OSError as error:
                raise ResultError(f"{file}: {error.strerror}: expected a table of a run") from None
            except UnicodeDecodeError as error:
                raise ResultError(f"{file}: expected a table of a run ({error})") from None
        return self._texts.get(name)

    def _parse(self, name: str, text: str) -> Iterator[dict[str, Any]]:
        file = f"{name}.csv" if self._folder is None else str(self._folder / f"{name}.csv")
        rows = csv.DictReader(StringIO(text))
        try:
            for number, cells in enumerate(rows, start=2):
                if None in cells or None in cells.values():
                    raise ResultError(
                        f"{file}:{number}: expected as many cells as the first line has"
                    )
                row = {key: cell if key in _NAMES else _value(cell) for key, cell in cells.items()}
                _check(name, row, f"{file}:{number}")
                yield row
        except csv.Error as error:
            raise ResultError(f"{file}: expected a table of a run ({error})") from None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RunTables) and all(
            self.find(name) == other.find(name) for name in MEASURED
        )

    __hash__ = None  # type: ignore[assignment]


def _check(name: str, row: Mapping[str, Any], where: str) -> None:
    """Raise ResultError if a row is none of a table that pages and pictures read."""
    read = _READ.get(name, ())
    for column in read:
        if column not in row:
            raise ResultError(f"{where}: expected a table of a run with the column {column}")
    for column, value in row.items() if read else ():
        if column in _NAMES:
            continue
        most = _GREATEST_INDEX if column in _INDICES else _GREATEST
        kinds = int if column in _INDICES else (int, float)
        if not isinstance(value, kinds) or not 0 <= value <= most:
            raise ResultError(
                f"{where}: {column}: {str(value)[:40]!r} is no number of such a table"
            )


def _checked(rows: NDArray[np.float64], columns: Sequence[str], file: Path) -> NDArray[np.float64]:
    """Return the numbers of a table; raise ResultError if one of them cannot be measured."""
    import numpy as np

    most = [_GREATEST_INDEX if column in _INDICES else _GREATEST for column in columns]
    wrong = np.argwhere(~((rows >= 0) & (rows <= most)))
    if wrong.size:
        row, column = map(int, wrong[0])
        raise ResultError(
            f"{file}: row {row + 1}: {columns[column]}: '{rows[row, column]:g}' is no number of "
            "such a table"
        )
    return rows


def _value(cell: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            continue
    return cell


def _csv(rows: Sequence[Mapping[str, Any]]) -> str:
    text = StringIO()
    if rows:
        columns = dict.fromkeys(chain.from_iterable(rows))
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([row.get(name, "") for name in columns] for row in rows)
    return text.getvalue()
