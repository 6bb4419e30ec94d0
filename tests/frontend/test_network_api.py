"""The Python module generated from network_api.proto is current."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

from frontend import network_api_pb2

ROOT = Path(__file__).parents[2]


def test_it_is_current(tmp_path):
    if importlib.util.find_spec("grpc_tools") is None:
        pytest.skip("grpcio-tools is not installed")
    out = tmp_path / "descriptors"
    command = [
        sys.executable,
        "-m",
        "grpc_tools.protoc",
        f"-I{ROOT}",
        f"--descriptor_set_out={out}",
    ]
    subprocess.run([*command, "frontend/network_api.proto"], cwd=ROOT, check=True)
    (written,) = FileDescriptorSet.FromString(out.read_bytes()).file
    generated = FileDescriptorProto()
    network_api_pb2.DESCRIPTOR.CopyToProto(generated)
    for message in [*written.message_type, *generated.message_type]:
        for field in message.field:
            field.ClearField("json_name")  # only protoc sets it
    # python -m grpc_tools.protoc -I. --python_out=. --pyi_out=. frontend/network_api.proto
    assert generated == written, "generate frontend/network_api_pb2.py again (see the comment here)"


@pytest.mark.parametrize("name", ["network_api", "formats/chakra/execution_trace"])
def test_its_code_works_with_every_protobuf_that_is_allowed(name):
    """That of grpcio-tools 1.62.3 does; newer ones write code that refuses older protobuf."""
    code = (ROOT / "frontend" / f"{name}_pb2.py").read_text()
    assert "# Protobuf Python Version: 4.25." in code
    assert "ValidateProtobufRuntimeVersion" not in code


def test_it_imports_without_a_warning():
    code = "import frontend.network_api_pb2"
    subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=ROOT, check=True)
