"""Sequences, token by token: recurrent decoders, and a search for any step."""

from keras_attention.decoding.search import Generated, Rules
from keras_attention.decoding.strategies import Beam, Greedy, Sample, Strategy

__all__ = ["Beam", "Generated", "Greedy", "Rules", "Sample", "Strategy"]
