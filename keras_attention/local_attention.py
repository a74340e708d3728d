"""Local attention: each query looks at a short window of the keys."""

from typing import Any

import keras
from keras import ops

from keras_attention import (
    arguments,
    boundary,
    masks,
    query_blocks,
    stages,
    weight_dropout,
    windows,
)
from keras_attention.alignments.softmax import SoftmaxAlignment
from keras_attention.base_layer import PerStepLayer, Shape, Tensor
from keras_attention.inputs import Tensors
from keras_attention.reads.weighted_sum import WeightedSumRead
from keras_attention.stages import Score, divided


class LocalAttention(PerStepLayer):
    """Abstract: scores, aligns and reads the keys within a window.

        keys s with |s - p_i| <= radius,   p_i the centre for query i

    The window is gathered, so that the cost is Tq x (2 radius + 1) and never
    Tq x Tv. Subclasses say where the centres are and how the weights fall
    off around them.

    Args:
        radius: Keys visible on each side of the centre, `D` in the paper.
        score: A `Score` or its name.
        dropout: Fraction of the attention weights to drop in training.
        seed: Seed of the dropout.
        query_block_size: How many queries are computed at a time; the numbers
            do not depend on it. None chooses it from a memory budget.
        **kwargs: `jit_compile`, and `keras.Layer` arguments, such as `name`.
    """

    def __init__(
        self,
        radius: int = 10,
        score: Score | str = "general",
        *,
        dropout: float = 0.0,
        seed: int | None = None,
        query_block_size: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.radius = arguments.integer("radius", radius, at_least=0)
        self.dropout = arguments.rate("dropout", dropout)
        self.seed = arguments.seed(seed)
        self.query_block_size = arguments.optional_integer(
            "query_block_size", query_block_size
        )
        self.score = stages.get(Score, score, dtype=self.dtype_policy)
        self.alignment = SoftmaxAlignment(dtype=self.dtype_policy)
        self.read = WeightedSumRead(dtype=self.dtype_policy)
        self.seed_generator = keras.random.SeedGenerator(self.seed)

    @property
    def width(self) -> int:
        """How many keys a window holds at most."""
        return 2 * self.radius + 1

    def fall_off(self, distance: Tensor) -> Tensor:
        """The factor on a weight at `distance` from the centre."""
        raise NotImplementedError

    def build_score(
        self, query_shape: Shape, value_shape: Any, key_shape: Any
    ) -> Shape:
        """Builds the score for windows; the shape of one query sequence."""
        query_shape, value_shape = boundary.query_and_value_shapes(
            self, query_shape, value_shape
        )
        window_shape = (*query_shape[:-1], self.width)
        key_dim = (key_shape or value_shape)[-1]
        if not self.score.built:  # A loaded stage arrives already built.
            self.score.build(query_shape, (*window_shape, key_dim))
        return query_shape

    def attend(
        self,
        tensors: tuple[Tensors, Tensors],
        centre: Tensor,
        causal: bool,
        return_attention_scores: bool,
        training: bool | None,
    ) -> Tensor | tuple[Tensor, Tensor]:
        """Context, and the weights over all keys if asked.

        Args:
            tensors: Rows and shared tensors, as from `inputs`.
            centre: `(..., Tq)`, the real number `p_i` of each query.
            causal: Whether a query sees no key behind its own place.
            return_attention_scores: Whether to return the weights too.
            training: Whether to apply dropout.
        """
        rows, shared = tensors
        rows["centre"] = ops.expand_dims(centre, -1)
        shared["key"] = self.score.project_key(shared["key"])
        if training and self.dropout:
            shared["noise"] = weight_dropout.noise(
                self.seed_generator.next(), rows["query"]
            )

        def of_rows(rows: Tensors, shared: Tensors) -> tuple[Tensor, ...]:
            return self._attend(rows, shared, causal)

        if return_attention_scores:
            sums, total, portions = of_rows(rows, shared)
            start = _start(rows["centre"], self.radius)
            steps = ops.shape(shared["value"])[-2]
            weights = divided(portions, total, self.compute_dtype)
            weights = windows.scatter(weights, start, steps)
            return divided(sums, total, self.compute_dtype), weights
        key, value = shared["key"], shared["value"]
        sums, total = query_blocks.over_queries(
            self,
            lambda rows, shared: of_rows(rows, shared)[:2],
            rows,
            shared,
            self.query_block_size,
            self.width
            * (self.score.numbers_per_pair() + key.shape[-1] + value.shape[-1]),
            widths=(value.shape[-1], 1),
        )
        return divided(sums, total, self.compute_dtype)

    def _attend(
        self, rows: Tensors, shared: Tensors, causal: bool
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Each query is a batch of its own, with its window as the memory."""
        place = windows.places(_start(rows["centre"], self.radius), self.width)
        query = self.score.project_query(rows["query"])
        scores = self.score.compare(
            ops.expand_dims(query, -2), windows.gather(shared["key"], place)
        )
        visible = self._visible(rows, shared, place, causal)
        is_broken = windows.gather_mask(
            ops.squeeze(shared["is_broken"], -2), place
        )
        scores = masks.poison(
            ops.squeeze(scores, -2),
            ops.logical_or(rows["is_broken"], is_broken),
        )
        portions, total = self.alignment.spread(scores, visible)
        distance = ops.cast(place, rows["centre"].dtype) - rows["centre"]
        portions = portions * ops.cast(self.fall_off(distance), portions.dtype)
        kept = portions
        if "noise" in shared:
            kept = weight_dropout.drop(
                portions, self.dropout, shared["noise"], rows["position"], place
            )
        value = windows.gather(shared["value"], place)
        sums = self.read.read(ops.expand_dims(kept, -2), value)
        return ops.squeeze(sums, -2), total, portions

    def _visible(
        self,
        rows: Tensors,
        shared: Tensors,
        place: Tensor,
        causal: bool,
    ) -> Tensor:
        steps = ops.shape(shared["value"])[-2]
        distance = ops.cast(place, rows["centre"].dtype) - rows["centre"]
        value_mask = shared.get("value_mask")
        if value_mask is not None:
            value_mask = windows.gather_mask(ops.squeeze(value_mask, -2), place)
        attention_mask = rows.get("attention_mask")
        if attention_mask is not None:
            inside = ops.clip(place, 0, ops.maximum(steps - 1, 0))
            attention_mask = ops.take_along_axis(
                attention_mask, inside, axis=-1
            )
        return masks.every(
            windows.exists(place, steps),
            ops.abs(distance) <= self.radius,
            rows.get("query_mask"),
            value_mask,
            attention_mask,
            place <= rows["position"] if causal else None,
        )


def _start(centre: Tensor, radius: int) -> Tensor:
    """The first whole place that is not left of the window, `(..., Tq)`."""
    first = ops.ceil(ops.squeeze(centre, -1) - radius)
    return ops.cast(first, "int32")
