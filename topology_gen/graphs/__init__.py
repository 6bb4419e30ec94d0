"""Direct-connect topologies by family: nodes linked to each other without switches."""

from topology_gen.graphs.families.circulant import (
    circulant,
    directed_circulant,
    least_diameter_offsets,
    least_distance_offsets,
)
from topology_gen.graphs.families.complete import complete, complete_bipartite, hamming
from topology_gen.graphs.families.distance_regular import distance_regular, distance_regular_names
from topology_gen.graphs.families.double_binary_tree import double_binary_tree
from topology_gen.graphs.families.kautz import (
    de_bruijn,
    generalized_kautz,
    kautz,
    modified_de_bruijn,
)
from topology_gen.graphs.families.lift import cayley, lift
from topology_gen.graphs.families.random_regular import random_regular, xpander
from topology_gen.graphs.families.ring import ring, ring_strides, shifted_ring, unidirectional_ring
from topology_gen.graphs.families.torus import (
    hypercube,
    torus,
    twisted_hypercube,
    twisted_torus,
    unidirectional_torus,
)

__all__ = [
    "cayley",
    "circulant",
    "complete",
    "complete_bipartite",
    "de_bruijn",
    "directed_circulant",
    "distance_regular",
    "distance_regular_names",
    "double_binary_tree",
    "generalized_kautz",
    "hamming",
    "hypercube",
    "kautz",
    "least_diameter_offsets",
    "least_distance_offsets",
    "lift",
    "modified_de_bruijn",
    "random_regular",
    "ring",
    "ring_strides",
    "shifted_ring",
    "torus",
    "twisted_hypercube",
    "twisted_torus",
    "unidirectional_ring",
    "unidirectional_torus",
    "xpander",
]
