"""A recurrent decoder beside TensorFlow Addons', on the same weights.

LSTM, additive attention asked by the new state, an attention layer that is fed
to the next step, vocabulary of 8,000. `train` is a step of SGD on the
cross-entropy of 40 given tokens, one XLA program here, a `tf.function` there;
`greedy` and `beam` generate 40 tokens from the same memory (nothing ends
before), with `dynamic_decode` there. The limit is the matrix products alone;
of `train`, `activations` is that with one tanh of each query, key and unit and
one softmax of the logits.
The rows of more source steps are for ours alone: what a token costs as the
memory grows. Those of one example are what a sentence takes.
"""

import dataclasses
import functools
import statistics
from typing import Any

import keras
import numpy as np

import keras_attention as ka
from benchmarks import decoder_products, ways
from benchmarks.cases import Case
from benchmarks.other_process import OtherModel
from benchmarks.sides import Side, arrays

START, END = 1, 2
WIDTH = 4
TOKENS, LENGTH = 8000, 40
QUICK_TOKENS, QUICK_LENGTH = 11, 5

#: As new weights are, hypotheses differ by rounding errors.
SHARPER = 10.0

#: Source steps at which the peer runs too.
USUAL = 40


@dataclasses.dataclass(frozen=True)
class Sizes:
    """Beside those of a case.

    Args:
        tokens: Of the vocabulary.
        length: Of the targets, and of what is generated.
    """

    tokens: int
    length: int


def cases(quick: bool) -> list[Case]:
    """Training, greedy and beam; longer sources for greedy."""
    size = {"batch": 64, "steps": USUAL, "dim": 256}
    if quick:
        size = {"batch": 2, "steps": 4, "dim": 8}
    rows = [Case(**size, way=way) for way in ("train", "greedy", "beam")]
    if quick:
        return rows
    return [
        *rows,
        *(Case(**{**size, "steps": n}, way="greedy") for n in (160, 640)),
        *(Case(**{**size, "batch": 1}, way=way) for way in ("greedy", "beam")),
    ]


def sides(case: Case) -> dict[str, Side]:
    """Ours, TensorFlow Addons' at the usual length, and the limit."""
    is_quick = case.dim < 64
    sizes = Sizes(
        QUICK_TOKENS if is_quick else TOKENS,
        QUICK_LENGTH if is_quick else LENGTH,
    )
    decoder = _decoder(case, sizes)
    rng = np.random.default_rng(0)
    shape = (case.batch, case.steps, case.dim)
    memory = rng.normal(size=shape).astype("float32")
    shape = (case.batch, sizes.length)
    tokens = rng.integers(3, sizes.tokens, shape).astype("int32")
    given = np.pad(tokens[:, :-1], [(0, 0), (1, 0)], constant_values=START)
    if case.way == "train":
        ours = _trained(decoder, memory, given, tokens)
    else:
        ours = _generated(decoder, memory, case.way, sizes)
    if case.steps > USUAL:
        return {"ours": ours, **_limits(case, sizes)}
    theirs = _theirs(decoder, [memory, given], tokens, case)
    return {"ours": ours, "tfa": theirs, **_limits(case, sizes)}


def _limits(case: Case, sizes: Sizes) -> dict[str, Side]:
    products = {"limit": decoder_products.generating}
    if case.way == "train":
        products = {
            "limit": decoder_products.training,
            "activations": decoder_products.training_activations,
        }
    rows = case.batch * (WIDTH if case.way == "beam" else 1)
    return {
        name: of(rows, case.steps, case.dim, sizes.length, sizes.tokens)
        for name, of in products.items()
    }


def _decoder(case: Case, sizes: Sizes) -> ka.AttentionDecoder:
    keras.utils.set_random_seed(0)
    decoder = ka.AttentionDecoder(
        ka.AttentionCell(
            keras.layers.LSTMCell(case.dim),
            ka.BahdanauAttention(case.dim),
            units=case.dim,
            activation=None,  # Theirs has none.
            input_feeding=True,
        ),
        keras.layers.Embedding(sizes.tokens, case.dim),
        keras.layers.Dense(sizes.tokens),
    )
    decoder.build(
        (case.batch, sizes.length), (case.batch, case.steps, case.dim)
    )
    bias = np.zeros(sizes.tokens)
    bias[END] = -1e9  # Everybody writes as much.
    decoder.output_layer.bias.assign(bias)
    kernel = decoder.output_layer.kernel
    kernel.assign(SHARPER * kernel)
    return decoder


def _trained(
    decoder: ka.AttentionDecoder,
    memory: np.ndarray,
    given: np.ndarray,
    tokens: np.ndarray,
) -> Side:
    """Returns the loss before the step."""
    import tensorflow as tf

    weights = [weight.value for weight in decoder.trainable_variables]
    crossentropy = ka.TokenCrossentropy()

    @tf.function(jit_compile=True)
    def step(memory: Any, given: Any, tokens: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = crossentropy(tokens, decoder(given, memory, training=True))
        gradients = tape.gradient(loss, weights)
        for weight, gradient in zip(weights, gradients, strict=True):
            weight.assign_sub(
                ways.LEARNING_RATE * tf.convert_to_tensor(gradient)
            )
        return loss

    tensors = [tf.constant(x) for x in (memory, given, tokens)]
    return Side(functools.partial(step, *tensors), arrays)


def _generated(
    decoder: ka.AttentionDecoder, memory: np.ndarray, way: str, sizes: Sizes
) -> Side:
    options = {"width": WIDTH} if way == "beam" else {}
    run = functools.partial(
        decoder.generate,
        keras.ops.convert_to_tensor(memory),
        max_length=sizes.length,
        start_id=START,
        end_id=END,
        strategy=way,
        **options,
    )
    return Side(run, lambda found: arrays(found.tokens))


def _theirs(
    decoder: ka.AttentionDecoder,
    inputs: list[np.ndarray],
    tokens: np.ndarray,
    case: Case,
) -> Side:
    cell = decoder.cell
    score = cell.attention.score
    dim = case.dim
    weights = {
        "embeddings": decoder.embedding.embeddings,
        "kernel": cell.cell.kernel,
        "recurrent_kernel": cell.cell.recurrent_kernel,
        "bias": cell.cell.bias,
        "query_layer": score.W,
        "memory_layer": score.U,
        "attention_v": score.v[:, 0],
        # Theirs reads [s; c], ours [c; s].
        "attention_layer": np.concatenate([cell.W[dim:], cell.W[:dim]]),
        "output_kernel": decoder.output_layer.kernel,
        "output_bias": decoder.output_layer.bias,
    }
    model = OtherModel(
        "decoder",
        inputs,
        tokens,
        {name: np.asarray(x) for name, x in weights.items()},
        {
            "way": case.way,
            "width": WIDTH,
            "ids": [START, END],
            "learning_rate": ways.LEARNING_RATE,
        },
    )
    run = model.train_step if case.way == "train" else model.forward
    return Side(
        run,
        (lambda _: arrays(model.loss))
        if case.way == "train"
        else (lambda _: arrays(model.output())),
        lambda calls: lambda: statistics.fmean(run(calls)),
    )
