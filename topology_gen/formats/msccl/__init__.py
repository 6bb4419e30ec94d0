"""MSCCL XML: the algorithm files of the MSCCL runtime, in and out."""

from topology_gen.formats.msccl.limits import refusals
from topology_gen.formats.msccl.read import read_xml
from topology_gen.formats.msccl.write import write_xml

__all__ = ["read_xml", "refusals", "write_xml"]
