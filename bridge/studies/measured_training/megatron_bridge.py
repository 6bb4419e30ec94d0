"""Tables of Megatron-Bridge, predicted before their measurements were read."""

from __future__ import annotations

from bridge.studies.measured_training.blind import BRIDGE, chapter

NOTES = """\
**Which runs.** NVIDIA's Megatron-Bridge publishes the tokens that a GPU trains on in a second, for
each of its releases (`docs/performance-summary*.md`), and the recipes of these runs
(`scripts/performance`, versions 0.2.0 to 0.5.0). Five rows were known. The 70 rows here have other
layouts, models, chips, precisions or releases. Their predictions were stored by a commit of its
own. Until then, a script had read the tables without the last two columns, which have the
measurements.

**How they were predicted.** Without a fit: kernels by their shape, as above. *One number* is that
of the smallest run of a group: one chip, precision and release, and models with experts apart from
others. The measurements were read in two steps: those of the smallest runs first, then, after a
second commit, the others. `blind.csv` has the predictions, as stored. To predict new rows without
measurements, run

```sh
python -m bridge.studies.measured_training.blind
```

**What recipes say** is in the column `options` of `runs.csv`. Gradients have 16 bits, weights are
gathered during the forward phase, in 8 bits with FP8 (one factor for a tensor) and in 16 bits with
MXFP8 and NVFP4. tp overlaps computation but in NVFP4. Tokens go to all experts alike
(`moe_router_force_load_balancing`). HybridEP and DeepEP send a token once to each rank
(`super_nodes`); without them, it goes once to each of its experts. NVFP4 has the Hadamard
transform and random rounding. Normalisations, activation functions and latent projections are
computed again where the recipe names one of them (`light`).

- *Hosts.* Recipes that capture the attention or the whole iteration as a CUDA graph have no host
  here. The other models with experts have one that launches each operator, with the values of 2025
  ([llm](llm.md#launches-by-the-host)): a linear layer in 8 bits takes 191 us on Grace and 74 us on
  x86, and half of it in 16 bits. Dense models have none, as their layers take longer than
  launches.
- *The second prediction of a token* (MTP) of DeepSeek-V3 is one more layer, and an output layer
  that is twice as wide.
- *Windows.* Every second layer of GPT-OSS attends to 128 tokens, so attention takes little more
  than half as long. The scenario has sequences of half the length instead, of which there are
  twice as many. Sinks are left out.
- *Muon*, the optimizer of Kimi K2, is Adam here. Its products take some 1.5 % of a step by FLOPs.
- *Parts of the layers.* Layers that do not divide evenly go to the middle of the pipeline; recipes
  give the last stages of DeepSeek-V3 and Kimi K2 fewer.
- *25.11.* Its tables have layouts of DeepSeek-V3 and Qwen3 235B that its recipes lack; the other
  options are those of the nearest recipe.

**Left out** are: hybrids of Mamba and attention (Nemotron 3) and DeepSeek-V4, which the model does
not have; activations that are offloaded to hosts, with FSDP (70B in FP8 on GB200 and GB300); 8B on
H100 (25.11), which computes five of 32 layers again; adapters and fine-tuning, whose sequences are
packed; B300, which has no kernels here; experts that ranks of tp share (Qwen3 235B and DeepSeek-V3
on H100); dropped tokens (25.09); 70B in NVFP4 on one GPU of a GB300 (26.02.01), which does not fit
without FSDP; and rows with the layout of another row in the same or a similar release.
"""

EXPERIMENT = chapter("Megatron-Bridge, blind", "Megatron-Bridge", BRIDGE, NOTES)
