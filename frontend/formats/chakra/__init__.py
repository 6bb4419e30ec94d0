"""Chakra execution traces, one file for each rank (mlcommons/chakra, et_def.proto)."""
