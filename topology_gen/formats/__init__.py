"""Files of algorithms: MSCCL XML, MSCCL++ plans, and JSON."""
