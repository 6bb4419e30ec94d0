"""`transport.protocol` chooses a registered protocol; without it, a transport is TCP."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from frontend import load_scenario
from frontend.network_api_pb2 import Settings
from frontend.transports import DEFAULT, PROTOCOLS

FIRST = Path(__file__).parents[2] / "scenarios" / "first.yaml"
DATAGRAMS = """\
from typing import Literal

from frontend.schema.quantities import PositiveSize
from frontend.schema.transport import Transport
from frontend.transports import Protocol


class DatagramTransport(Transport):
    "Packets that nobody acknowledges."

    protocol: Literal["datagrams"]
    '''Packets that nobody acknowledges.'''
    window: PositiveSize = PositiveSize.parse("1MB")
    '''Bytes in flight.'''


class Datagrams(Protocol):
    model = DatagramTransport

    def header_bytes(self, transport):
        return 28

    def payload_bytes(self, transport, links):
        return links.mtu - 28

    def window_bytes(self, transport):
        return transport.window

    def problems(self, transport, links, fabric):
        if transport.window < links.mtu:
            yield "transport.window", "expected at least links.mtu"

    def fields(self, transport, links, switches):
        return {}


PROTOCOL = Datagrams()
"""


@pytest.fixture(scope="module")
def another(tmp_path_factory):
    """Return a folder with a second protocol, in an installed form."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "datagrams.py").write_text(DATAGRAMS)
    information = folder / "datagrams-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: datagrams\nVersion: 1.0\n")
    point = "[cosim.transports]\ndatagrams = datagrams:PROTOCOL\n"
    (information / "entry_points.txt").write_text(point)
    return folder


def cosim(folder, *arguments, code=0):
    done = subprocess.run(
        [sys.executable, "-m", "bridge", *arguments],
        env=os.environ | {"PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    return done.stdout if code == 0 else done.stderr


def validate(folder, *changes, code=0):
    sets = [part for change in changes for part in ("--set", change)]
    return cosim(folder, "validate", str(FIRST), *sets, code=code)


def test_the_stream_has_a_record_for_each_protocol():
    """Its name is that of the protocol, and it has the fields that the protocol writes."""
    scenario = load_scenario(FIRST)
    for name, protocol in PROTOCOLS.items():
        transport = load_scenario(scenario, {"transport": {"protocol": name}}).transport
        fields = dict(protocol.fields(transport, scenario.links, scenario.switches))
        record: dict[str, Any] = {name: fields}
        assert Settings(**record).HasField(name)


def test_one_more_protocol_is_one_registration(another):
    assert DEFAULT == "tcp"
    validate(another)
    validate(another, "transport={protocol: datagrams}")
    listed = json.loads(cosim(another, "list", "--json"))
    assert listed["transports"]["datagrams"] == "Packets that nobody acknowledges."
    schema = json.loads(cosim(another, "schema"))
    assert schema["$defs"]["DatagramTransport"]["required"] == ["protocol"]
    assert "required" not in schema["$defs"]["TcpTransport"]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            ["transport={protocol: rdma}"],
            "transport.protocol: value rdma: did you mean roce?",
        ),
        (
            ["transport={protocol: datagrams, initial_cwnd: 4}"],
            "transport.initial_cwnd: unknown key here, it belongs to protocol tcp",
        ),
        (
            ["transport={}", "transport.windows=1MB"],
            "transport.windows: unknown key: did you mean transport.window?",
        ),
        (
            ["transport={protocol: datagrams, window: 1KB}"],
            "transport.window: value 1KB: expected at least links.mtu",
        ),
        (
            ["transport={window: 1KB}"],
            "transport.window: value 1KB: expected at least one segment (transport.mss, 8960)",
        ),
    ],
)
def test_a_wrong_transport_is_one_sentence(another, changes, sentence):
    (line,) = validate(another, *changes, code=2).splitlines()
    assert line.endswith(sentence)
