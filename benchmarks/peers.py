"""Every mechanism beside the best peer that has it.

A peer is a layer of Keras's or of another package, on the same weights. Where
no package has the mechanism, it is the same thing written with Keras layers.
`MultiHeadAttention` and `BahdanauAttention` beside Keras are in `cases`.
"""

import dataclasses
import statistics
from collections.abc import Callable
from typing import Any

import keras

from benchmarks import (
    peers_elsewhere,
    peers_keras,
    peers_naive,
    peers_stepwise,
    programs,
    ways,
)
from benchmarks.cases import Size
from benchmarks.other_process import OtherModel, PeerFailed, PeerNotInstalled
from benchmarks.sides import Side, arrays

__all__ = [
    "PEERS",
    "Peer",
    "PeerFailed",
    "PeerNotInstalled",
    "build",
    "sides",
]

Pair = tuple[keras.Model, keras.Model | OtherModel]


@dataclasses.dataclass(frozen=True)
class Peer:
    """Who a mechanism of ours is compared with.

    Args:
        label: For a table.
        build: Our model and the peer's, of a size; on the same weights, and
            of the same inputs. An `OtherModel` lives in another process.
        note: What a reader of the numbers must know.
    """

    label: str
    build: Callable[[Size], Pair]
    note: str = ""


PROJECTED = "query and value behind a Dense on both sides, to be trained"
ONE_BY_ONE = "tfa takes one query at a time: the faster of its two loops"
RECURSIVE = (
    'tfa takes one query at a time; mode "recursive", as over so many queries '
    'mode "parallel" loses weight'
)
STEP = "one decoder step, memory projected anew on both sides"
NAIVE = "Keras layers"
ADDONS = "tensorflow-addons"
SELF = "keras-self-attention"

PEERS: dict[str, Peer] = {
    # Scores.
    "luong_dot": Peer("keras Attention", peers_keras.luong_dot, PROJECTED),
    "luong_general": Peer("keras Dense, Attention", peers_keras.luong_general),
    "luong_general_self": Peer(
        f"{SELF} SeqSelfAttention",
        peers_keras.luong_general_self,
        "multiplicative, without its bias",
    ),
    "luong_general_tfa": Peer(
        f"{ADDONS} LuongAttention", peers_elsewhere.luong_tfa, ONE_BY_ONE
    ),
    "luong_general_tfa_step": Peer(
        f"{ADDONS} LuongAttention", peers_elsewhere.luong_tfa_step, STEP
    ),
    "luong_general_many_to_one": Peer(
        "attention Attention",
        peers_elsewhere.luong_many_to_one,
        "the last step asks; tanh(W_c [c; h]) on both sides",
    ),
    "luong_concat": Peer(
        "keras Dense, AdditiveAttention", peers_keras.luong_concat
    ),
    "luong_location": Peer(NAIVE, peers_naive.luong_location),
    "scaled_dot": Peer(
        "keras Rescaling, Attention", peers_keras.scaled_dot, PROJECTED
    ),
    "scaled_dot_self": Peer(
        f"{SELF} ScaledDotProductAttention",
        peers_keras.scaled_dot_self,
        PROJECTED,
    ),
    "cosine": Peer(NAIVE, peers_naive.cosine, PROJECTED),
    "bahdanau_self": Peer(
        f"{SELF} SeqSelfAttention",
        peers_keras.bahdanau_self,
        "additive, without its biases",
    ),
    "bahdanau_tfa": Peer(
        f"{ADDONS} BahdanauAttention", peers_elsewhere.bahdanau_tfa, ONE_BY_ONE
    ),
    "bahdanau_tfa_step": Peer(
        f"{ADDONS} BahdanauAttention", peers_elsewhere.bahdanau_tfa_step, STEP
    ),
    "bahdanau_many_to_one": Peer(
        "attention Attention",
        peers_elsewhere.bahdanau_many_to_one,
        "the last step asks; tanh(W_c [c; h]) on both sides",
    ),
    "bahdanau_normalized": Peer(NAIVE, peers_naive.bahdanau_normalized),
    "bahdanau_normalized_tfa": Peer(
        f"{ADDONS} BahdanauAttention",
        peers_elsewhere.bahdanau_normalized_tfa,
        ONE_BY_ONE,
    ),
    "bahdanau_normalized_tfa_step": Peer(
        f"{ADDONS} BahdanauAttention",
        peers_elsewhere.bahdanau_normalized_tfa_step,
        STEP,
    ),
    # Alignments, of the general score.
    "sigmoid": Peer(NAIVE, peers_naive.sigmoid),
    "sparsemax": Peer(
        NAIVE,
        peers_naive.sparsemax,
        "Keras's own sparsemax gives weights that do not sum to 1",
    ),
    "sparsemax_tfa": Peer(f"{ADDONS} sparsemax", peers_elsewhere.sparsemax_tfa),
    # Windows.
    "local_monotonic": Peer(
        f"{SELF} SeqSelfAttention",
        peers_keras.local_monotonic,
        "multiplicative, attention_width=21: all scores, most hidden",
    ),
    "local_predictive": Peer(
        NAIVE, peers_naive.local_predictive, "all scores, most hidden"
    ),
    "key_value": Peer(NAIVE, peers_naive.key_value),
    "key_value_predict": Peer(NAIVE, peers_naive.key_value_predict),
    # A state goes from query to query.
    "coverage": Peer(NAIVE, peers_stepwise.coverage),
    "intra_temporal": Peer(
        NAIVE, peers_stepwise.intra_temporal, "cumulated sums, no loop"
    ),
    "monotonic_general_tfa": Peer(
        f"{ADDONS} LuongMonotonicAttention",
        peers_elsewhere.monotonic_general_tfa,
        RECURSIVE,
    ),
    "monotonic_general_tfa_step": Peer(
        f"{ADDONS} LuongMonotonicAttention",
        peers_elsewhere.monotonic_general_tfa_step,
        STEP,
    ),
    "monotonic_additive_tfa": Peer(
        f"{ADDONS} BahdanauMonotonicAttention",
        peers_elsewhere.monotonic_additive_tfa,
        RECURSIVE,
    ),
    "monotonic_additive_tfa_step": Peer(
        f"{ADDONS} BahdanauMonotonicAttention",
        peers_elsewhere.monotonic_additive_tfa_step,
        STEP,
    ),
    "forward": Peer(NAIVE, peers_stepwise.forward),
    "forward_agent": Peer(NAIVE, peers_stepwise.forward_agent),
    "forward_mask": Peer(NAIVE, peers_stepwise.forward_mask),
    # Pooling, channels, memory, heads.
    "feed_forward": Peer(NAIVE, peers_naive.feed_forward),
    "feed_forward_weighted": Peer(
        f"{SELF} SeqWeightedAttention",
        peers_keras.feed_forward_weighted,
        "no tanh; without its bias, which a softmax does not notice",
    ),
    "self_attentive_embedding": Peer(
        NAIVE, peers_naive.self_attentive_embedding, "no penalty"
    ),
    "squeeze_excitation": Peer(NAIVE, peers_naive.squeeze_excitation),
    "squeeze_excitation_steps": Peer(
        NAIVE, peers_naive.squeeze_excitation_steps
    ),
    "key_value_memory": Peer(NAIVE, peers_naive.key_value_memory, "two hops"),
    "multi_head_tfa": Peer(
        f"{ADDONS} MultiHeadAttention",
        peers_elsewhere.multi_head_tfa,
        "no biases",
    ),
}


def build(name: str, size: Size) -> Pair:
    """Our model and the peer's.

    Args:
        name: Of a case in `PEERS`.
        size: Of the inputs.

    Raises:
        PeerNotInstalled: The peer's package is missing.
        PeerFailed: The other process could not build it.
    """
    try:
        return PEERS[name].build(size)
    except ModuleNotFoundError as error:
        raise PeerNotInstalled(error.name) from error


def sides(name: str, size: Size, way: str) -> dict[str, Side]:
    """Ours, the peer's and the least, run in one of the `ways`.

    A peer in another process is run in the fastest of its ways, whichever way
    ours is. It is trained by a `tf.function`, not by Keras's trainer, and so
    is ours beside it; then the losses are compared.

    Raises:
        PeerNotInstalled: The peer's package is missing.
        PeerFailed: The other process could not build it.
    """
    ours, theirs = build(name, size)
    if way in ways.TRAINING and isinstance(theirs, OtherModel):
        start = programs.start(ours, way="fit_jit")
        return {
            "ours": _train_step(ours, size),
            "peer": _trained(theirs),
            "start": Side(_train_step(start, size).run),
        }
    return {
        "ours": ways.side(ours, way, size.batch),
        "peer": _called(theirs)
        if isinstance(theirs, OtherModel)
        else ways.side(theirs, way, size.batch),
        "start": programs.run(programs.start(ours, way), way, size.batch),
    }


def _train_step(model: keras.Model, size: Size) -> Side:
    """A step of SGD as one XLA program; returns the loss before it."""
    import tensorflow as tf

    x: Any = ways.inputs_of(model, size.batch)
    if len(x) == 1:
        (x,) = x  # As the model was made.
    target = ways.like(model(x))
    weights = [weight.value for weight in model.trainable_weights]

    @tf.function(jit_compile=True)
    def step(x: Any, target: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x) - target))
        gradients = tape.gradient(loss, weights)
        for weight, gradient in zip(weights, gradients, strict=True):
            weight.assign_sub(ways.LEARNING_RATE * gradient)
        return loss

    return Side(lambda: step(x, target).numpy(), arrays)


def _called(model: OtherModel) -> Side:
    return Side(
        model.forward,
        lambda _seconds: arrays(model.output()),
        lambda calls: lambda: statistics.fmean(model.forward(calls)),
    )


def _trained(model: OtherModel) -> Side:
    return Side(
        model.train_step,
        lambda _seconds: arrays(model.loss),
        lambda calls: lambda: statistics.fmean(model.train_step(calls)),
    )
