"""The layer under test: how it is built, what it is called with."""

import dataclasses
import inspect
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import keras
import numpy as np
from keras import ops

from keras_attention.attention import Attention
from keras_attention.scores.additive import AdditiveScore
from keras_attention.stages import Alignment, Read, Score
from keras_attention.testing.fresh_process import Shelf
from keras_attention.testing.violation import Failure

Arrays = dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Sizes:
    """How large the inputs are; all sizes differ where the layer lets them.

    Args:
        batch: Examples.
        queries: `Tq`; None for one question per example, of rank 2.
        steps: `Tv`, or the length of a layer's only sequence.
        query_dim: Last axis of `query`.
        value_dim: Last axis of `value`, or of a layer's only sequence.
        key_dim: Last axis of `key`.
    """

    batch: int = 2
    queries: int | None = 3
    steps: int = 5
    query_dim: int = 4
    value_dim: int = 6
    key_dim: int = 7

    def but(self, **changes: Any) -> "Sizes":
        """These sizes, some of them changed."""
        return dataclasses.replace(self, **changes)

    def smaller(self) -> list["Sizes"]:
        """Sizes on which a failure is easier to read, smallest first."""
        few = [(1, 1, 1), (1, 1, 2), (1, 2, 2), (1, 2, 3), (2, 2, 3)]
        return [
            self.but(batch=b, queries=self.queries and q, steps=t)
            for b, q, t in few
        ]


class Subject:
    """A layer under test.

    How it is called is read from the signature of its `call`: `query, value`
    or one sequence, and which masks and flags there are. A stage is put into
    an `Attention`.

    Args:
        build: Returns a new layer each time.
        sizes: Of the inputs. By default all differ, or as few are equal as
            the layer asks for.
    """

    def __init__(
        self, build: Callable[[], keras.Layer], sizes: Sizes | None = None
    ) -> None:
        self._build = build
        self.last_call: Arrays = {}
        self.shelf: Shelf | None = None
        call = inspect.signature(type(self.unbuilt()).call)
        self.parameters = [name for name in call.parameters if name != "self"]
        self.is_pair = self.parameters[:2] == ["query", "value"]
        self.sizes = sizes or self._fitting_sizes()
        self.any_length = self._takes_unknown_lengths()

    def unbuilt(self) -> keras.Layer:
        """A new layer without weights, the same each time."""
        keras.utils.set_random_seed(0)
        layer = self._build()
        if isinstance(layer, Score):
            return Attention(layer)
        if isinstance(layer, Alignment):
            return Attention(AdditiveScore(4), layer)
        if isinstance(layer, Read):
            return Attention(AdditiveScore(4), read=layer)
        return layer

    def fresh(self, sizes: Sizes | None = None) -> keras.Layer:
        """A new layer that was called once; its weights are the same."""
        layer = self.unbuilt()
        self.call(layer, self.arguments(sizes))
        return layer

    def takes(self, name: str) -> bool:
        """Whether the layer's call has an argument of this name."""
        return name in self.parameters

    @property
    def mask_name(self) -> str:
        """The argument that says which steps are visible."""
        return "value_mask" if self.is_pair else "mask"

    @property
    def sequences(self) -> list[str]:
        """The tensors that have the steps that the mask is about."""
        if not self.is_pair:
            return self.parameters[:1]
        return ["value", "key"] if self.takes("key") else ["value"]

    def shapes(self, sizes: Sizes | None = None) -> dict[str, tuple[int, ...]]:
        """The shape of each tensor of a call."""
        n = sizes or self.sizes
        if not self.is_pair:
            return {self.parameters[0]: (n.batch, n.steps, n.value_dim)}
        queries = () if n.queries is None else (n.queries,)
        shapes = {
            "query": (n.batch, *queries, n.query_dim),
            "value": (n.batch, n.steps, n.value_dim),
            "key": (n.batch, n.steps, n.key_dim),
        }
        return {k: v for k, v in shapes.items() if self.takes(k)}

    def arguments(self, sizes: Sizes | None = None) -> Arrays:
        """The tensors of a call, as float32 arrays."""
        random = np.random.default_rng(1)
        return {
            name: random.normal(size=shape).astype("float32")
            for name, shape in self.shapes(sizes).items()
        }

    def masks(self, sizes: Sizes | None = None) -> Arrays:
        """Padding on the right, on the left, on the right, and so on."""
        n = sizes or self.sizes
        masks = {self.mask_name: _padding(n.batch, n.steps)}
        if self.takes("query_mask"):
            masks["query_mask"] = _padding(n.batch, n.queries or 1)
        return {k: mask for k, mask in masks.items() if self.takes(k)}

    def call(
        self, layer: keras.Layer, arguments: Mapping[str, Any], **flags: Any
    ) -> Any:
        """`layer(query, value, ...)`, kept for the message of a failure."""
        self.last_call = {**arguments, **flags}
        tensors = {k: _tensor(x) for k, x in arguments.items()}
        first = [tensors.pop(k) for k in self.parameters[: 1 + self.is_pair]]
        return layer(*first, **tensors, **flags)

    def run(
        self, layer: keras.Layer, arguments: Mapping[str, Any], **flags: Any
    ) -> tuple[np.ndarray, Any]:
        """The output and, where there are any, the weights, as arrays."""
        if not self.takes("return_attention_scores"):
            return numpy(self.call(layer, arguments, **flags)), None
        flags = {"return_attention_scores": True, **flags}
        output, weights = self.call(layer, arguments, **flags)
        return numpy(output), numpy(weights)

    def output(
        self, layer: keras.Layer, arguments: Mapping[str, Any], **flags: Any
    ) -> np.ndarray:
        """The output of a call that does not ask for the weights."""
        return numpy(self.call(layer, arguments, **flags))

    def is_per_step(self, output: Any, sizes: Sizes) -> bool:
        """Whether `output` has one row per step of the first input."""
        steps = sizes.queries if self.is_pair else sizes.steps
        return len(output.shape) > 2 and output.shape[1] == steps

    def model(
        self,
        layer: keras.Layer,
        known_lengths: bool = True,
        masked: bool = True,
        **flags: Any,
    ) -> keras.Model:
        """A functional model of the layer, its masks being inputs too."""
        tensors = {
            name: keras.Input(
                shape[1:] if known_lengths else _unknown(shape), name=name
            )
            for name, shape in self.shapes().items()
        }
        if masked:
            for name, mask in self.masks().items():
                shape = mask.shape[1:] if known_lengths else (None,)
                tensors[name] = keras.Input(shape, name=name, dtype="bool")
        return keras.Model(tensors, self.call(layer, tensors, **flags))

    def answers(self, form: str) -> tuple[Arrays, Any]:
        """What a saved model answers, and what a fresh process found."""
        shelf = self.shelf or Shelf([self])
        return shelf.answers(self, form)

    def _fitting_sizes(self) -> Sizes:
        """Different sizes first; then as scores and sums ask for."""
        asks_one = not any(
            self.takes(name)
            for name in ("query_mask", "attention_mask", "use_causal_mask")
        )
        usual = Sizes(queries=None if asks_one and self.is_pair else 3)
        tried = [
            usual,
            usual.but(key_dim=usual.query_dim),
            usual.but(key_dim=usual.query_dim, value_dim=usual.query_dim),
        ]
        for sizes in tried[:-1]:
            if self._builds(self.shapes(sizes)):
                return sizes
        return tried[-1] if self.is_pair else usual

    def _takes_unknown_lengths(self) -> bool:
        shapes = self.shapes().items()
        return self._builds({name: (None, *_unknown(s)) for name, s in shapes})

    def _builds(self, shapes: Mapping[str, Any]) -> bool:
        tensors = {k: keras.KerasTensor(s) for k, s in shapes.items()}
        failure = Failure()
        with warnings.catch_warnings(), failure:
            warnings.simplefilter("ignore")  # For the checks to find.
            self.call(self.unbuilt(), tensors)
        return failure.error is None


def numpy(tensor: Any) -> np.ndarray:
    """A tensor as an array, in float32 at least."""
    if keras.backend.is_float_dtype(
        keras.backend.standardize_dtype(tensor.dtype)
    ):
        wide = keras.backend.result_type(tensor.dtype, "float32")
        tensor = ops.cast(tensor, wide)
    return np.asarray(ops.convert_to_numpy(tensor))


def visible_rows(x: Any, mask: Any) -> Any:
    """`x`, `(batch, ..., T, n)`, with zeros where `mask`, `(batch, T)`, is."""
    batch, steps = mask.shape
    middle = [1] * (x.ndim - 3)
    return np.where(mask.reshape(batch, *middle, steps, 1), x, 0.0)


def _padding(batch: int, steps: int) -> np.ndarray:
    """At least one step of each example is visible."""
    place, padded = np.arange(steps), (steps * 2 + 3) // 5
    padded = min(padded, steps - 1)
    rows = [place < steps - padded, place >= padded]
    return np.stack([rows[example % 2] for example in range(batch)])


def _unknown(shape: tuple[int, ...]) -> tuple[int | None, ...]:
    """The shape of one example, its length unknown."""
    return (*[None] * (len(shape) - 2), shape[-1])


def _tensor(value: Any) -> Any:
    return (
        ops.convert_to_tensor(value) if isinstance(value, np.ndarray) else value
    )
