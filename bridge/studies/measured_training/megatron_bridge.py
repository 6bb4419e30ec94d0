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
second commit, the others. `blind.csv` has the predictions, as stored. *This version* is what the
model predicts now, with what the measurements have taught: kernels that take longer beside
exchanges of dp, inputs that are gathered in 8 and 4 bits, launches of each expert, hosts that wait
for routers, and the recipes' parts of the layers. To predict new rows without measurements, run

```sh
python -m bridge.studies.measured_training.blind
```

**What recipes say** is in the column `options` of `runs.csv`. Gradients have 16 bits, weights are
gathered during the forward phase, in 8 bits with FP8 (one factor for a tensor) and in 16 bits with
MXFP8 and NVFP4. tp overlaps computation but in NVFP4. Tokens go to all experts alike
(`moe_router_force_load_balancing`). HybridEP and DeepEP send a token once to each rank
(`super_nodes`); without them, it goes once to each of its experts. NVFP4 has the Hadamard transform
and random rounding. Normalisations, activation functions and latent projections are computed again
where the recipe names one of them (`light`).

- *Hosts.* Recipes that capture the attention or the whole iteration as a CUDA graph have no host
  here. The other models with experts have one that launches each operator, with the values of 2025
  ([llm](llm.md#launches-by-the-host)): a linear layer in 8 bits takes 191 us on Grace and 74 us on
  x86, and half of it in 16 bits. Dense models have none, as their layers take longer than launches.
- *The second prediction of a token* (MTP) of DeepSeek-V3 was one more layer, and an output layer
  that is twice as wide, when it was predicted. Now it is a module (`mtp_layers`).
- *Windows.* Every second layer of GPT-OSS attends to 128 tokens, so attention takes little more
  than half as long. The scenario has sequences of half the length instead, of which there are twice
  as many. Sinks are left out.
- *Muon*, the optimizer of Kimi K2, is Adam here. Its products take some 1.5 % of a step by FLOPs.
- *Parts of the layers.* When they were predicted, layers that do not divide evenly went to the
  middle of the pipeline. This version has what recipes say (`layers`): the last stages of
  DeepSeek-V3 and Kimi K2 have fewer.
- *Releases before 26.04.* The tables of 25.11 have layouts of DeepSeek-V3 and Qwen3 235B that its
  recipes lack; the other options are those of the nearest recipe.

**Dense models.** With one number from 8B or 70B, the nine rows of 405B are at -6 to +17 %, with a
median size of 5.4 %, and 4.2 % by this version. Without a fit, errors are those of the chip. But
for the next paragraph, GB300 is 8 to 19 % too slow (8B: -3 %), GB200 -20 to +1 %, B200 -17 to -10 %
and H100 -9 to -3 %. The known rows of 8B have the same signs: the GB300 has the products of the
GB200 here, which is slower. The largest error with one number is NVFP4 on GB200: its number comes
from 70B with tp 2, whose layers are short and which has no graphs. The recipe of 0.5.0 captures
this model there.

**One row of the table is hardly what ran.** 70B on GB300 in MXFP8 (26.02.01) is 38 % too slow. Four
stages without chunks and eight micro-batches have a bubble of 3/8, but the measured step is as long
as with five chunks in 26.04.01. The recipe of this release has five chunks and micro-batches of one
sequence. These take 7.31 s, as the row of 26.04.01 with this layout: +7 %. The row stays as it is
published.

**Models with experts do not hold.** Without a fit, the 18 rows of large models (235B and more) on
GB200 and GB300 are at -25 to +18 %, and all of GPT-OSS and Qwen3 30B are too fast, by 9 to 73 %.
Much of what is missing is time around the kernels:

- *Captured or not.* Qwen3 30B on eight GB300 became faster by software alone: 9.06, 8.63, 8.26 and
  5.79 s (25.11 to 26.06). Here, it takes 6.05, 6.00, 6.00 and 5.28 s. The last recipe captures the
  whole iteration as a graph; its error is -9 %, and before that -27 to -33 %. On B200, recipes
  without HybridEP and with micro-batches of one sequence (26.02) take 27.0 s instead of 7.6; with
  HybridEP and attention in a graph (26.04) 9.7 s instead of 6.6.
- *Hosts are undercounted.* With the values of 2025, the host of this row on B200 was hidden:
  without it, the step was the same. The experts of a rank counted as one linear layer in each of
  two matrices, and the host never waited. Now it launches each of the 16 experts, and waits for the
  numbers of tokens ([llm](llm.md#launches-by-the-host)), but this makes these rows only 0 to 5 %
  longer: the time of an expert comes from a version of April 2026, in which one kernel computes all
  experts. The values of 2023 would make the row of 26.02 on B200 21 % too slow instead of 72 % too
  fast:

  ```sh
  python -m bridge.studies.measured_training bridge-26.02-b200-mx-qwen3-30b > run.json && \\
  cosim run run.json --set workload.compute.kernels=shapes --set workload.compute.efficiency=1 \\
    --set 'workload.compute.host={linear: 1.036ms, operator: 13.48us}'     # 32.7 s; null: 7.1 s
  ```

- *Not hosts alone.* On H100, Qwen3 30B in two stages takes as long for each token with
  micro-batches of one sequence (26.02) as with two (25.11): 51.3 s for 1024 sequences, and 24.9 s
  for 512. If launches were all that is missing, the latter would take half as long for each token.
  The cause is not known.
- *One number from Qwen3 30B* carries its launches over to large models, whose kernels hide them: 23
  of 24 rows are 7 to 232 % too slow. Without a fit, they are closer.
- *GPT-OSS* is 22 to 54 % too fast in all releases, also where attention or all is in graphs. Its
  windows are not the reason: with whole attention in all layers, steps are 3 % longer. Sinks,
  biases and clamped activation functions are left out, and the release of 26.06.01 names a
  regression of its attention in cuDNN. If scores passed through the memory, the row of 26.04.01 on
  GB300 would have its measured step, but nothing shows that they did:

  ```sh
  python -m bridge.studies.measured_training \\
    bridge-26.04.01-gb300-bf16-gpt-oss-120b > run.json && \\
  cosim run run.json --set workload.compute.kernels=shapes --set workload.compute.efficiency=1 \\
    --set workload.flash_attention=false     # 4.2 s instead of 2.4 s
  ```

- *DeepSeek-V3* in 26.06 on GB300 is 17 % too slow. The second prediction takes 5 % of a step. The
  last part of the layers has three of them here, beside both outputs, and two in the recipe; the
  GB300's products are too slow as well. Where the second prediction is off (25.11), it is 3 to 20 %
  too fast.

**Left out** are: hybrids of Mamba and attention (Nemotron 3) and DeepSeek-V4, which the model does
not have; activations that are offloaded to hosts, with FSDP (70B in FP8 on GB200 and GB300); 8B on
H100 (25.11), which computes five of 32 layers again; adapters and fine-tuning, whose sequences are
packed; B300, whose kernels came later here; experts that ranks of tp share (Qwen3 235B and
DeepSeek-V3 on H100); dropped tokens (25.09); 70B in NVFP4 on one GPU of a GB300 (26.02.01), which
does not fit without FSDP; and rows with the layout of another row in the same or a similar release.
"""

EXPERIMENT = chapter("Megatron-Bridge, blind", "Megatron-Bridge", BRIDGE, NOTES)
