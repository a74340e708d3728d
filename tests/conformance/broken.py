"""Layers that break one promise each, for the checks to catch."""

import os
import warnings
from typing import Any

import keras
import numpy as np
from keras import ops

import keras_attention as ka
from keras_attention.stages import Normalizer, Read, Score

register = keras.saving.register_keras_serializable("broken")


@register
class ForgetsAnArgument(ka.BahdanauAttention):
    def get_config(self) -> dict[str, Any]:
        return {k: v for k, v in super().get_config().items() if k != "units"}


@register
class BuildsTooLate(keras.Layer):
    """The weights of the child exist after the first call only."""

    def build(self, inputs_shape: Any) -> None:
        self.child = keras.layers.Dense(inputs_shape[-1])

    def call(self, inputs: Any) -> Any:
        return self.child(inputs)

    def compute_output_shape(self, inputs_shape: Any) -> Any:
        return inputs_shape


@register
class KeepsNumbersToItself(keras.Layer):
    """A constant that no file holds."""

    def build(self, inputs_shape: Any) -> None:
        self.secret = int.from_bytes(os.urandom(3))

    def call(self, inputs: Any) -> Any:
        return inputs * float(self.secret)


@register
class LeavesTheGraph(keras.Layer):
    def call(self, inputs: Any) -> Any:
        return ops.convert_to_tensor(np.asarray(inputs))

    def compute_output_shape(self, inputs_shape: Any) -> Any:
        return inputs_shape


@register
class ForgetsTheMask(ka.Attention):
    def _attend(self, rows: Any, shared: Any, causal: bool) -> Any:
        shared = {k: v for k, v in shared.items() if k != "value_mask"}
        return super()._attend(rows, shared, causal)


@register
class AveragesWhereNothingIsVisible(ka.Attention):
    def _attend(self, rows: Any, shared: Any, causal: bool) -> Any:
        sums, total, portions = super()._attend(rows, shared, causal)
        empty = ops.all(ops.equal(portions, 0.0), axis=-1, keepdims=True)
        sums = ops.where(empty, total, sums)
        return sums, total, ops.where(empty, 0.2 * total, portions)


@register
class SeesTheFuture(ka.Attention):
    def _attend(self, rows: Any, shared: Any, causal: bool) -> Any:
        return super()._attend(rows, shared, False)


@register
class TakesTheMaskAway(keras.Layer):
    supports_masking = True

    def call(self, inputs: Any, mask: Any = None) -> Any:
        if not isinstance(inputs, keras.KerasTensor):
            inputs._keras_mask = None
        return inputs * 2.0


@register
class ForgetsImplicitMasks(keras.Layer):
    supports_masking = True

    def call(self, inputs: Any, mask: Any = None) -> Any:
        if mask is None or getattr(inputs, "_keras_mask", None) is not None:
            return inputs
        return ops.where(ops.expand_dims(mask, -1), inputs, 7.0)


@register
class DropsTheMask(ka.Attention):
    def compute_mask(self, inputs: Any, previous_mask: Any) -> None:
        return None


@register
class ForgetsMasksOfPairs(ka.Attention):
    def _attend(self, rows: Any, shared: Any, causal: bool) -> Any:
        rows = {k: v for k, v in rows.items() if k != "attention_mask"}
        return super()._attend(rows, shared, causal)


@register
class SumsToTwo(Normalizer):
    def normalize(self, scores: Any) -> Any:
        portions, total = ka.SoftmaxAlignment().normalize(scores)
        return 2.0 * portions, total


@register
class AnswersOtherwiseWhenAsked(keras.Layer):
    def call(self, inputs: Any, return_attention_scores: bool = False) -> Any:
        if return_attention_scores:
            return inputs + 1.0, inputs[..., 0]
        return inputs


@register
class AnswersInFloat32(Read):
    def read(self, weights: Any, value: Any) -> Any:
        return ops.cast(ops.matmul(weights, value), "float32")


@register
class StopsTheGradient(ka.BilinearScore):
    def project_key(self, key: Any) -> Any:
        return ops.stop_gradient(super().project_key(key))


@register
class DoublesTheGradient(Score):
    def compare(self, query: Any, key: Any) -> Any:
        scores = ops.mean(key, axis=-1)[..., None, :] + query[..., :1]
        return 2.0 * scores - ops.stop_gradient(scores)


@register
class SaysAnotherShape(ka.Attention):
    def compute_output_spec(self, query: Any, *args: Any, **kwargs: Any) -> Any:
        return keras.KerasTensor(query.shape)


@register
class AssumesLengths(keras.Layer):
    def call(self, inputs: Any) -> Any:
        return ops.reshape(inputs, (2, 5, 6))


@register
class AveragesTheMemory(ka.Attention):
    def _attend(self, rows: Any, shared: Any, causal: bool) -> Any:
        sums, total, portions = super()._attend(rows, shared, causal)
        mean = ops.mean(shared["value"], axis=-2, keepdims=True)
        return sums + mean * total, total, portions


@register
class MixesExamples(keras.Layer):
    def call(self, inputs: Any) -> Any:
        return inputs - ops.mean(inputs, axis=0)


@register
class KnowsRankThreeAlone(Score):
    def compare(self, query: Any, key: Any) -> Any:
        return ops.einsum("bqd,bkd->bqk", query, key)


@register
class CountsItsCalls(keras.Layer):
    calls = 0

    def call(self, inputs: Any) -> Any:
        self.calls += 1
        return inputs * float(self.calls)


@register
class AlwaysDropsOut(keras.Layer):
    dropout = 0.5

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.seed_generator = keras.random.SeedGenerator(0)

    def call(self, inputs: Any, training: bool | None = None) -> Any:
        return keras.random.dropout(inputs, 0.5, seed=self.seed_generator)


@register
class DrawsItsOwnSeed(ka.Attention):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(dropout=0.5, **kwargs)
        seed = int.from_bytes(os.urandom(3))
        self.seed_generator = keras.random.SeedGenerator(seed)


@register
class HasAnIdleWeight(keras.Layer):
    def build(self, inputs_shape: Any) -> None:
        self.used = self.add_weight((), "ones", name="used")
        self.idle = self.add_weight((), "ones", name="idle")

    def call(self, inputs: Any) -> Any:
        return inputs * self.used


@register
class Warns(keras.Layer):
    supports_masking = True

    def call(self, inputs: Any, mask: Any = None) -> Any:
        warnings.warn("attention please", stacklevel=2)
        return inputs


@register
class KnowsPythonAlone(keras.Layer):
    def __init__(self, units: int = 4, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if type(units) is not int:
            raise ValueError(f"`units` must be an int. Received: {units!r}")
        self.units = units

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "units": self.units}

    def call(self, inputs: Any) -> Any:
        return inputs * float(self.units)


@register
class TakesAnyArgument(KnowsPythonAlone):
    def __init__(self, units: Any = 4, **kwargs: Any) -> None:
        keras.Layer.__init__(self, **kwargs)
        self.units = units


@register
class TakesAnyMask(keras.Layer):
    supports_masking = True

    def call(self, inputs: Any, mask: Any = None) -> Any:
        return (
            inputs
            if mask is None
            else inputs * ops.cast(mask, "float32")[..., None]
        )


#: The layer that a check must catch, and what the failure must speak of.
BROKEN = {
    "config_tells_all": (lambda: ForgetsAnArgument(4), "units"),
    "weights_exist_when_built": (BuildsTooLate, "0 of 2 weights"),
    "keras_file": (KeepsNumbersToItself, "output"),
    "weights_file": (KeepsNumbersToItself, "output"),
    "saved_model": (LeavesTheGraph, "symbolic"),
    "padding_is_invisible": (ForgetsTheMask, "with 100.0 hidden, output"),
    "longer_padding_is_invisible": (ForgetsTheMask, "output"),
    "nothing_visible_weighs_nothing": (
        AveragesWhereNothingIsVisible,
        "weights",
    ),
    "nothing_visible_gives_zeros": (AveragesWhereNothingIsVisible, "output"),
    "future_is_invisible": (SeesTheFuture, "output before it"),
    "callers_masks_survive": (TakesTheMaskAway, "lost its mask"),
    "implicit_masks_count": (ForgetsImplicitMasks, "output"),
    "output_mask_is_right": (DropsTheMask, "no mask"),
    "masks_agree": (ForgetsMasksOfPairs, "output"),
    "weights_are_a_distribution": (SumsToTwo, "sum of weights"),
    "asking_for_weights_changes_nothing": (
        AnswersOtherwiseWhenAsked,
        "output with weights",
    ),
    "dtypes_agree": (lambda: AnswersInFloat32(dtype="float32"), "float32"),
    "xla_equals_eager": (LeavesTheGraph, "symbolic"),
    "gradients_reach_every_weight": (StopsTheGradient, "/W"),
    "gradients_equal_differences": (DoublesTheGradient, "gradient along"),
    "symbolic_shape_is_real": (SaysAnotherShape, "shape"),
    "any_length": (AssumesLengths, "Reshape"),
    "empty_memory_is_finite": (AveragesTheMemory, "not finite"),
    "examples_are_independent": (MixesExamples, "example 0"),
    "leading_axes_are_batches": (KnowsRankThreeAlone, "rank"),
    "nested_and_shared": (CountsItsCalls, "output"),
    "dropout_only_in_training": (AlwaysDropsOut, "a second call"),
    "dropout_is_seeded": (DrawsItsOwnSeed, "an equal layer"),
    "trains": (HasAnIdleWeight, "Gradients do not exist"),
    "no_warning": (Warns, "attention please"),
    "numpy_numbers": (KnowsPythonAlone, "`units` must be an int"),
    "bad_arguments_are_named": (TakesAnyArgument, "for units=-1"),
    "bad_calls_are_refused": (TakesAnyMask, "for a mask of floats"),
    "onnx": (LeavesTheGraph, "symbolic"),
    "litert": (LeavesTheGraph, "symbolic"),
}
