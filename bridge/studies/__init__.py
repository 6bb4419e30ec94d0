"""Published experiments, repeated: each a set of simulations and what follows from them."""
