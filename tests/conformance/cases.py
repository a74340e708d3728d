"""How to build every public class for the conformance checks: a line each."""

import dataclasses
from collections.abc import Callable
from typing import Any

import keras

import keras_attention as ka


@dataclasses.dataclass(frozen=True)
class Case:
    """A class, its arguments, and the checks it fails, each with a reason.

    Args:
        cls: The class.
        loaded: Every argument, off its default.
        required: The arguments without a default.
        exceptions: Names of checks, with the reason why they fail.
        usual: The same for the layer as most people build it alone.
    """

    cls: type[keras.Layer]
    loaded: Callable[[], dict[str, Any]] = dict
    required: dict[str, Any] = dataclasses.field(default_factory=dict)
    exceptions: dict[str, str] = dataclasses.field(default_factory=dict)
    usual: dict[str, str] = dataclasses.field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.cls.__name__

    def build(self) -> keras.Layer:
        """As most people build it."""
        return self.cls(**self.required)

    def build_loaded(self) -> keras.Layer:
        """With every argument off its default."""
        return self.cls(**self.loaded(), jit_compile=False)


def attention(**more: Any) -> dict[str, Any]:
    """The arguments of every `AttentionLayer`, off their defaults."""
    return {"dropout": 0.4, "seed": 5, "query_block_size": 2, **more}


def recurrent(**more: Any) -> dict[str, Any]:
    """The arguments of every `RecurrentAttention`, off their defaults."""
    return {"dropout": 0.4, "seed": 5, **more}


def kernel(**more: Any) -> dict[str, Any]:
    return {"kernel_initializer": "he_normal", **more}


def heads() -> dict[str, Any]:
    sizes = {"num_heads": 2, "key_dim": 3, "value_dim": 4, "output_dim": 5}
    stages = {"score": ka.AdditiveScore(6), "alignment": "sparsemax"}
    kernels = {"use_bias": False, "bias_initializer": "ones", **kernel()}
    return attention(**sizes, **stages, **kernels)


def stages() -> dict[str, Any]:
    score = ka.AdditiveScore(3, use_bias=True)
    return attention(score=score, alignment="sparsemax", read=Doubled())


@keras.saving.register_keras_serializable("tests")
class Doubled(ka.stages.Read):
    """A read that is not the default; the package has but one."""

    def read(self, weights: Any, value: Any) -> Any:
        return 2.0 * ka.WeightedSumRead().read(weights, value)


NOT_A_DISTRIBUTION = "weights_are_a_distribution"
ZEROS = "nothing_visible_gives_zeros"
EACH_BY_ITSELF = {NOT_A_DISTRIBUTION: "a sigmoid weighs each key by itself"}
MONOTONIC = {
    "gradients_reach_every_weight": "the mode hard has no gradient",
}
FORWARD = {
    "masks_agree": "a mask per query does not tell where reading begins",
}
BELOW_ONE = {
    NOT_A_DISTRIBUTION: "the Gaussian is not normalised again, as in the paper",
    "masks_agree": "a mask per query does not tell the length of the memory",
}

CASES = [
    Case(ka.DotScore),
    Case(ka.ScaledDotScore),
    Case(ka.BilinearScore, kernel),
    Case(ka.AdditiveScore, lambda: kernel(units=3, use_bias=True)),
    Case(ka.NormalizedAdditiveScore, lambda: kernel(units=3)),
    Case(ka.CosineScore, lambda: {"scale": 2.0, "learn_scale": True}),
    Case(ka.LocationScore, lambda: kernel(length=9)),
    Case(ka.SoftmaxAlignment),
    Case(ka.SparsemaxAlignment),
    Case(ka.SigmoidAlignment, exceptions=EACH_BY_ITSELF),
    Case(ka.WeightedSumRead),
    Case(ka.Attention, stages),
    Case(ka.LuongAttention, lambda: attention(score="concat")),
    Case(ka.BahdanauAttention, lambda: attention(units=3, normalize=True)),
    Case(
        ka.LocalMonotonicAttention,
        lambda: attention(radius=1, score="additive"),
    ),
    Case(
        ka.LocalPredictiveAttention,
        lambda: attention(radius=2, score="additive", units=3),
        exceptions=BELOW_ONE,
    ),
    Case(ka.KeyValueAttention, lambda: {"window": 3, "parts": 3}),
    Case(ka.CoverageAttention, lambda: recurrent(units=3)),
    Case(
        ka.IntraTemporalAttention,
        lambda: recurrent(score="additive"),
    ),
    Case(
        ka.MonotonicAttention,
        lambda: recurrent(
            score="general",
            mode="hard",
            initial_bias=-1.0,
            score_noise=0.3,
        ),
        exceptions=MONOTONIC,
        usual={NOT_A_DISTRIBUTION: "reading may run off the end"},
    ),
    Case(
        ka.ForwardAttention,
        lambda: recurrent(score="general", transition_agent=True),
        exceptions=FORWARD,
    ),
    Case(
        ka.ForwardMaskAttention,
        lambda: recurrent(score="general"),
    ),
    Case(
        ka.FeedForwardAttention,
        lambda: kernel(step_bias=True, activation=None),
    ),
    Case(
        ka.SelfAttentiveEmbedding,
        lambda: {"hops": 2, "units": 3, "penalty": 0.5},
        required={"hops": 3, "units": 4},
    ),
    Case(ka.MultiHeadAttention, heads, required={"num_heads": 3, "key_dim": 4}),
    Case(
        ka.SequenceSqueezeExcitation,
        lambda: {"channels": "steps", "ratio": 2, "use_bias": True},
        exceptions={NOT_A_DISTRIBUTION: "each channel has a scale of its own"},
    ),
    Case(
        ka.KeyValueMemory,
        lambda: kernel(hops=3, score="additive", alignment="sparsemax"),
        exceptions={ZEROS: "a question that finds nothing stays as it is"},
    ),
]
