"""Reads files of networks from a text or from the content of a YAML file, and random links."""

from hypothesis import strategies as st

from topology_gen.formats.graphs.document import GraphDocument
from topology_gen.formats.graphs.registry import read


def document(text, name="file"):
    result = read(text.encode(), name, lambda text: {})
    assert isinstance(result, GraphDocument)
    return result


def from_yaml(content):
    result = read(b"text", "file.yaml", lambda text: content)
    assert isinstance(result, GraphDocument)
    return result


names = st.sampled_from(["gpu0", "gpu1", "gpu2", "a", "b"])
