"""Attention mechanisms for Keras 3: score, align, read."""

# Scores: how well does each key answer each query?
from keras_attention.scores.dot import DotScore
from keras_attention.scores.scaled_dot import ScaledDotScore
from keras_attention.scores.bilinear import BilinearScore
from keras_attention.scores.additive import AdditiveScore
from keras_attention.scores.normalized_additive import NormalizedAdditiveScore
from keras_attention.scores.cosine import CosineScore
from keras_attention.scores.location import LocationScore

# Alignments: how much of each value does each query get?
from keras_attention.alignments.softmax import SoftmaxAlignment
from keras_attention.alignments.sparsemax import SparsemaxAlignment
from keras_attention.alignments.sigmoid import SigmoidAlignment

# Reads: what does each query take away?
from keras_attention.reads.weighted_sum import WeightedSumRead

# The three stages, chosen by you.
from keras_attention.attention import Attention

# A decoder asks an encoder; a language model asks its own past.
from keras_attention.encoder_decoder.luong import LuongAttention
from keras_attention.encoder_decoder.bahdanau import BahdanauAttention
from keras_attention.encoder_decoder.local_monotonic import (
    LocalMonotonicAttention,
)
from keras_attention.encoder_decoder.local_predictive import (
    LocalPredictiveAttention,
)
from keras_attention.encoder_decoder.key_value import KeyValueAttention

# A decoder that remembers where it has looked.
from keras_attention.encoder_decoder.coverage import CoverageAttention
from keras_attention.encoder_decoder.intra_temporal import (
    IntraTemporalAttention,
)
from keras_attention.encoder_decoder.monotonic import MonotonicAttention
from keras_attention.encoder_decoder.forward import ForwardAttention
from keras_attention.encoder_decoder.forward_mask import ForwardMaskAttention

# A vector, or a few, out of a sequence.
from keras_attention.pooling.feed_forward import FeedForwardAttention
from keras_attention.pooling.self_attentive_embedding import (
    SelfAttentiveEmbedding,
)

# Heads side by side.
from keras_attention.self_attention.multi_head import MultiHeadAttention

# Channels rescaled.
from keras_attention.channel.sequence_squeeze_excitation import (
    SequenceSqueezeExcitation,
)

# A memory that is asked several times.
from keras_attention.memory.key_value_memory import KeyValueMemory

# A recurrent decoder: taught in one loop, generating in another.
from keras_attention.decoding.attention_cell import AttentionCell
from keras_attention.decoding.attention_decoder import AttentionDecoder
from keras_attention.decoding.encoder_decoder import EncoderDecoder

# What a decoder is trained on.
from keras_attention.losses.token_crossentropy import TokenCrossentropy
from keras_attention.losses.doubly_stochastic import DoublyStochasticLoss
from keras_attention.losses.guided_alignment import GuidedAlignmentLoss
from keras_attention.losses.guided_attention import GuidedAttentionLoss
from keras_attention.losses.coverage import CoverageLoss

# How good it is.
from keras_attention.metrics.token_accuracy import TokenAccuracy
from keras_attention.metrics.perplexity import Perplexity
from keras_attention.metrics.error_rates import error_rates
from keras_attention.metrics.bleu import bleu

__version__ = "0.1.0"

__all__ = [
    "DotScore",
    "ScaledDotScore",
    "BilinearScore",
    "AdditiveScore",
    "NormalizedAdditiveScore",
    "CosineScore",
    "LocationScore",
    "SoftmaxAlignment",
    "SparsemaxAlignment",
    "SigmoidAlignment",
    "WeightedSumRead",
    "Attention",
    "LuongAttention",
    "BahdanauAttention",
    "LocalMonotonicAttention",
    "LocalPredictiveAttention",
    "KeyValueAttention",
    "CoverageAttention",
    "IntraTemporalAttention",
    "MonotonicAttention",
    "ForwardAttention",
    "ForwardMaskAttention",
    "FeedForwardAttention",
    "SelfAttentiveEmbedding",
    "MultiHeadAttention",
    "SequenceSqueezeExcitation",
    "KeyValueMemory",
    "TokenCrossentropy",
    "DoublyStochasticLoss",
    "GuidedAlignmentLoss",
    "GuidedAttentionLoss",
    "CoverageLoss",
    "TokenAccuracy",
    "Perplexity",
    "AttentionCell",
    "AttentionDecoder",
    "EncoderDecoder",
    "error_rates",
    "bleu",
]
