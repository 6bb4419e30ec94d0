"""Encode and decode the stream: length-delimited records of network_api.proto."""

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt
from google.protobuf.message import DecodeError, Message

from frontend.network_api_pb2 import Record

VERSION = 2
"""`Header.version` of the streams that this package writes."""


def encode(records: Iterable[Record]) -> bytes:
    """Return the records as one stream of bytes; a varint with the length precedes each record."""
    parts = []
    for record in records:
        message = record.SerializeToString(deterministic=True)
        parts += [varint(len(message)), message]
    return b"".join(parts)


def decode(stream: bytes) -> Iterator[Record]:
    """Yield the records of a stream.

    Raises
    ------
    ValueError
        If the stream ends inside a record or contains anything else than records. The text gives
        the byte offset.
    """
    position = 0
    while position < len(stream):
        start = position
        length = shift = 0
        while True:
            if position == len(stream) or shift > 63:
                raise ValueError(f"stream: no record length at byte {start}")
            byte = stream[position]
            length |= (byte & 0x7F) << shift
            position, shift = position + 1, shift + 7
            if byte < 0x80:
                break
        end = position + length
        if end > len(stream):
            raise ValueError(f"stream: ends inside the record at byte {start}")
        try:
            yield Record.FromString(stream[position:end])
        except DecodeError:
            raise ValueError(f"stream: no record at byte {start}") from None
        position = end


def varint(number: int) -> bytes:
    """Return a number as protobuf's varint."""
    result = bytearray()
    while number >= 0x80:
        result.append(number & 0x7F | 0x80)
        number >>= 7
    result.append(number)
    return bytes(result)


def append(message: Message, field: str, values: npt.NDArray[np.integer]) -> None:
    """Append numbers to a repeated field, without an object of Python for each of them.

    Parameters
    ----------
    message : Message
        The message, in the generated class.
    field : str
        Name of one of its packed fields of unsigned numbers.
    values : array of int
        The numbers, none of which is negative.
    """
    if not len(values):
        return
    number = message.DESCRIPTOR.fields_by_name[field].number
    parts = [_varints(values[i : i + _SLICE]) for i in range(0, len(values), _SLICE)]
    tag = varint(number << 3 | 2) + varint(sum(map(len, parts)))
    message.MergeFromString(b"".join([tag, *parts]))


_SLICE = 1 << 18
"""Numbers that are encoded at a time, which limits the memory."""


def _varints(values: npt.NDArray[np.integer]) -> bytes:
    """Return numbers as protobuf's varints, seven bits in a byte, the lowest first."""
    left = values.astype(np.uint64)
    length = np.ones(left.size, np.int64)
    for bits in range(7, 64, 7):
        longer = left >= np.uint64(1 << bits)
        if not longer.any():
            break
        length += longer
    end = np.cumsum(length)
    place = end - length
    data = np.empty(int(end[-1]), np.uint8)
    while place.size:
        more = left >= 0x80
        data[place] = (left & 0x7F) | (more.astype(np.uint64) << np.uint64(7))
        left, place = left[more] >> np.uint64(7), place[more] + 1
    return data.tobytes()
