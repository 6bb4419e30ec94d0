"""The files that the simulator writes while a run lasts: the timeline, and time series."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from bridge.errors import OutputError
from bridge.files import not_written, remove, require_replaceable
from bridge.results import parquet
from bridge.results.result import FILE_NAME, PARTIAL_NAME
from bridge.results.run_tables import FORMATS, SERIES, TABLES
from bridge.results.timeline_file import TIMELINE
from frontend.fabrics import ESTIMATORS
from frontend.schema.outputs import chosen, ranks_of

if TYPE_CHECKING:
    from bridge.simulator.core import Simulation

#: The level of ISA-L at which a timeline, which repeats itself, shrinks to a fifteenth.
_LEVEL = 1

_GZIP = 31
_NEVER = 2**63
_FULL = 2**63


#: All files that a run may write or remove in its folder.
ANY_RUN = (
    *(FILE_NAME, PARTIAL_NAME, TIMELINE),
    *(f"{table}.{form}" for table in (*TABLES, *SERIES) for form in FORMATS),
)


def complete_run(scenario: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the files that a complete run of a scenario leaves in its folder."""
    outputs = chosen(scenario)
    switches = scenario.get("switches")
    pauses = isinstance(switches, Mapping) and switches.get("buffer_sharing") == "pfc"
    tables = [table for table in TABLES if pauses or table != "pauses"]
    tables += SERIES if outputs.series is not None else ()
    return (
        *(f"{table}.{outputs.format}" for table in tables),
        *([TIMELINE] if outputs.timeline is not None else ()),
        FILE_NAME,
    )


class Encoder(Protocol):
    """Turns text into the bytes of a file, piece by piece."""

    @property
    def held_bytes(self) -> int:
        """Size of the text that is not encoded yet."""
        ...

    def pack(self, text: bytes) -> bytes:
        """Take some text, and return what the file now continues with."""
        ...

    def finish(self) -> bytes:
        """Return the end of the file."""
        ...


class PlainEncoder:
    """Leaves text as it is."""

    held_bytes = 0

    def pack(self, text: bytes) -> bytes:
        return text

    def finish(self) -> bytes:
        return b""


class GzipEncoder:
    """Compresses text. It is flushed after each piece, so that the size of the file is known."""

    held_bytes = 0

    def __init__(self) -> None:
        # A fourth of the time of zlib; imported here because few runs need it.
        from isal import isal_zlib

        self._compressor = isal_zlib.compressobj(_LEVEL, wbits=_GZIP)
        self._flush = isal_zlib.Z_SYNC_FLUSH

    def pack(self, text: bytes) -> bytes:
        return self._compressor.compress(text) + self._compressor.flush(self._flush)

    def finish(self) -> bytes:
        return self._compressor.flush()


class StreamedFile:
    """A file that the simulator writes in pieces."""

    def __init__(self, path: Path, encoder: Encoder) -> None:
        self._path = path
        self._encoder = encoder
        self._size = 0
        self._error: OSError | None = None
        try:
            self._file: BinaryIO = path.open("wb")
        except OSError as error:
            raise not_written(path, error) from None

    def write(self, text: bytes) -> int:
        """Write some text and return the size of the file; after an error it counts as full.

        ns-3 calls this, so it raises nothing: `close` returns the error.
        """
        if self._error is None:
            try:
                self._size += self._file.write(self._encoder.pack(text))
            except OSError as error:
                self._error = error
        return self._size + self._encoder.held_bytes if self._error is None else _FULL

    def close(self) -> OutputError | None:
        """Complete the file; return why it could not be written, as on a full disk.

        Then it is removed, because a part of it is of no use, and leaves its room to the result.
        """
        try:
            with self._file as file:
                if self._error is None:
                    file.write(self._encoder.finish())
        except OSError as error:
            self._error = error
        if self._error is None:
            return None
        with suppress(OSError):
            self._path.unlink()
        return not_written(self._path, self._error)


class OutputFiles:
    """The files of a run that a scenario asks for, in the folder of the run."""

    def __init__(self, folder: Path | None, scenario: Mapping[str, Any]) -> None:
        self._folder = folder
        self._outputs = chosen(scenario)
        self._has_packets = scenario.get("fabric") not in ESTIMATORS
        self._files: list[StreamedFile] = []

    def attach(self, simulation: Simulation) -> None:
        """Let a simulation that is not built yet record the outputs.

        Raises
        ------
        InputError
            The outputs are Parquet files, and pyarrow is not installed.
        OutputError
            A file cannot be written, or there is something else than a file in its place.
        ValueError
            A link of a series does not exist.
        """
        if self._outputs.critical_path:
            simulation.record_critical_path()
        timeline, series = self._outputs.timeline, self._outputs.series
        if self._folder is None:
            return
        if self._outputs.format == "parquet":
            parquet.require_parquet()
        for name in ANY_RUN:
            require_replaceable(self._folder / name)
        for name in (TIMELINE, *(f"{series}.{form}" for series in SERIES for form in FORMATS)):
            remove(self._folder / name)  # it was of an earlier run
        if timeline is not None:
            counters = timeline.counters if self._has_packets else None
            simulation.write_timeline(
                self._open(TIMELINE, GzipEncoder()).write,
                ranks_of(timeline.ranks),
                int(timeline.start),
                _NEVER if timeline.end is None else int(timeline.end),
                int(timeline.size_limit),
                0 if counters is None else int(counters.interval),
                0 if counters is None else counters.links,
                0 if counters is None else counters.flows,
            )
        if series is not None:
            links, flows = series.links, series.flows
            link_file, flow_file = (self._open_series(name) for name in SERIES)
            simulation.write_series(
                link_file.write,
                flow_file.write,
                int(series.interval),
                int(series.size_limit),
                links if isinstance(links, int) else None,
                links if isinstance(links, tuple) else (),
                flows if isinstance(flows, int) else None,
            )

    def close(self) -> list[OutputError]:
        """Complete the files; return why some could not be written, as on a full disk."""
        return [error for file in self._files if (error := file.close()) is not None]

    def _open_series(self, name: str) -> StreamedFile:
        form = self._outputs.format
        encoder = parquet.ParquetEncoder() if form == "parquet" else PlainEncoder()
        return self._open(f"{name}.{form}", encoder)

    def _open(self, name: str, encoder: Encoder) -> StreamedFile:
        assert self._folder is not None
        self._files.append(StreamedFile(self._folder / name, encoder))
        return self._files[-1]
