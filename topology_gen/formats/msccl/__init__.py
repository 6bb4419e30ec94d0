"""Reads and writes MSCCL XML, the algorithm files of the MSCCL runtime."""

from topology_gen.formats.msccl.read import read_xml, read_xml_and_ignored
from topology_gen.formats.msccl.write import refusals, write_xml

__all__ = ["read_xml", "read_xml_and_ignored", "refusals", "write_xml"]
