"""MSCCL XML: the algorithm files of the MSCCL runtime, in and out."""

from topology_gen.msccl.limits import refusals
from topology_gen.msccl.read import read_xml
from topology_gen.msccl.write import write_xml

__all__ = ["read_xml", "refusals", "write_xml"]
