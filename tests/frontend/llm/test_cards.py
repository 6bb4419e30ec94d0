"""Cards: parameters as published, and FLOPs by the published formulas."""

import pytest

from frontend.models.cards import CARDS, Card
from frontend.models.transformer import parameters, token_flop

# In 10^9, as the publications round them: all weights, and those that compute a token.
PUBLISHED = {
    "llama3_8b": (8.03, 8.03),
    "llama3_70b": (70.6, 70.6),
    "llama3_405b": (405.9, 405.9),
    "gpt3_175b": (174.6, 174.6),
    "gpt_1t": (1008.0, 1008.0),
    "mixtral_8x7b": (46.7, 12.9),
    "deepseek_v3": (671 + 11.6, 37.5 + 0.7),  # the model, and its module for a further token
    "qwen3_32b": (32.8, 32.8),
    "qwen3_235b": (235, 22.2),
}


@pytest.mark.parametrize("name", CARDS)
def test_parameters_are_those_of_the_publication(name):
    card = Card.model_validate(CARDS[name])
    every, active = PUBLISHED[name]
    assert parameters(card) / 1e9 == pytest.approx(every, rel=0.005)
    assert parameters(card, active=True) / 1e9 == pytest.approx(active, rel=0.01)


@pytest.mark.parametrize("name", ["gpt3_175b", "gpt_1t"])
def test_flops_are_those_of_megatron(name):
    # Narayanan et al., SC 2021, eq. 3, without the recomputed quarter:
    # F = 72 · s · l · h² · (1 + s / (6 h) + V / (12 l h)) for a sequence.
    card = Card.model_validate(CARDS[name])
    length, layers, hidden, words = card.sequence, card.layers, card.hidden, card.vocabulary
    formula = 72 * layers * hidden**2 * (1 + length / 6 / hidden + words / 12 / layers / hidden)
    assert token_flop(card, length) == pytest.approx(formula, rel=1e-3)


@pytest.mark.parametrize("name", CARDS)
def test_flops_are_six_for_each_weight_and_attention(name):
    # Chowdhery et al., PaLM, appendix B: 6 N + 12 · L · H · Q · T; N without the look-up table.
    card = Card.model_validate(CARDS[name])
    if card.latent_attention is not None:
        pytest.skip("keys and values have different widths")
    weights = parameters(card, active=True)
    if not card.tied_embedding:
        weights -= card.vocabulary * card.hidden
    width = card.head_width or card.hidden // card.heads
    formula = 6 * weights + 12 * card.layers * card.heads * width * card.sequence
    assert token_flop(card, card.sequence) == pytest.approx(formula, rel=0.01)
