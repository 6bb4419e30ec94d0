"""The framing of records in a stream."""

import numpy as np
import pytest
from google.protobuf.internal.decoder import _DecodeVarint32  # type: ignore[attr-defined]
from hypothesis import given
from hypothesis import strategies as st

from frontend.network_api_pb2 import Collective, Header, Record, Topology
from frontend.stream import append, decode, encode

records = st.lists(
    st.one_of(
        st.builds(
            lambda name, seed: Record(header=Header(name=name, seed=seed)),
            st.text(max_size=300),
            st.integers(0, 2**64 - 1),
        ),
        st.builds(
            lambda ranks, size: Record(collective=Collective(ranks=ranks, bytes=size)),
            st.lists(st.integers(0, 2**32 - 1), max_size=100),
            st.integers(0, 2**64 - 1),
        ),
    ),
    max_size=5,
)


@given(records)
def test_round_trip(sent):
    assert list(decode(encode(sent))) == sent


@given(records.filter(bool))
def test_framing_is_protobufs(sent):
    stream = encode(sent)
    length, begin = _DecodeVarint32(stream, 0)
    assert Record.FromString(stream[begin : begin + length]) == sent[0]


@given(records.filter(bool), st.data())
def test_a_cut_stream_is_noticed(sent, data):
    stream = encode(sent)
    whole = {len(encode(sent[:count])) for count in range(len(sent) + 1)}
    cut = data.draw(st.integers(0, len(stream)).filter(lambda at: at not in whole))
    with pytest.raises(ValueError, match=r"^stream: (ends inside|no) "):
        list(decode(stream[:cut]))


@pytest.mark.parametrize(
    ("stream", "text"),
    [
        (b"\x80", "stream: no record length at byte 0"),
        (b"\xff" * 12, "stream: no record length at byte 0"),
        (b"\x00\x05abc", "stream: ends inside the record at byte 1"),
        (b"\x00\x03\xff\xff\xff", "stream: no record at byte 1"),
    ],
)
def test_what_is_no_stream(stream, text):
    with pytest.raises(ValueError, match=r"^stream") as caught:
        list(decode(stream))
    assert str(caught.value) == text


@given(
    st.lists(st.integers(0, 2**32 - 1)),
    st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 63).map(lambda bits: (1 << bits) - 1)),
)
def test_appended_numbers_are_those_of_protobuf(small, large):
    array = Topology(link_source=[7])
    append(array, "link_source", np.array(small, np.uint32))
    append(array, "link_rate_bps", np.array(large, np.uint64))
    assert array == Topology(link_source=[7, *small], link_rate_bps=large)


def test_many_numbers_are_appended_in_slices():
    many = np.arange(600_000) * 7919 % 2**20
    array = Topology()
    append(array, "path_links", many)
    assert np.array_equal(array.path_links, many)
