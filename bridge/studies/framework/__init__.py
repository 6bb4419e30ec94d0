"""The parts that all studies share: claims, tables, charts, the runner and the report."""
