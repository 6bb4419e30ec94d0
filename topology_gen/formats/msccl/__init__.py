"""Reads and writes MSCCL XML, the algorithm files of the MSCCL runtime."""

from topology_gen.formats.msccl.limits import refusals
from topology_gen.formats.msccl.read import read_xml
from topology_gen.formats.msccl.write import write_xml

__all__ = ["read_xml", "refusals", "write_xml"]
