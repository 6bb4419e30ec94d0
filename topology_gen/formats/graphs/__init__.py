"""Files of networks that other tools write; see `topology_gen.formats.graphs.registry`."""
