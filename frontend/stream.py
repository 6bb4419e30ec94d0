"""Encode and decode the stream: length-delimited records of network_api.proto."""

from collections.abc import Iterable, Iterator

from google.protobuf.message import DecodeError

from frontend.network_api_pb2 import Record

VERSION = 1
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
