"""Reads and writes algorithms as files: MSCCL XML, MSCCL++ plans, and JSON."""
