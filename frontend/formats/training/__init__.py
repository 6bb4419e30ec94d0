"""Models and layouts from the files of training programs: Hugging Face, Megatron-LM, torchtitan."""
