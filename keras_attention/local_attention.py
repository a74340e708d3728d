"""Local attention: each query looks at a short window of the keys."""

from typing import Any

from keras import ops

from keras_attention import (
    arguments,
    compilation,
    inputs,
    masks,
    query_blocks,
    stages,
    weight_dropout,
    windows,
)
from keras_attention.alignments.softmax import SoftmaxAlignment
from keras_attention.base_layer import Shape, Tensor
from keras_attention.inputs import Tensors
from keras_attention.reads.weighted_sum import WeightedSumRead
from keras_attention.stages import PlaceScore, Score, divided
from keras_attention.stepwise import ScoringAttention, State

#: What a pair costs beside its score, in the time of numbers gathered: masks
#: and softmax, and a part of each feature. Fitted to times on a CPU.
MASKS = 4
PRODUCTS = 1 / 32


class LocalAttention(ScoringAttention):
    """Abstract: scores, aligns and reads the keys within a window.

        keys s with |s - p_i| <= radius,   p_i the centre for query i

    The window is gathered, so that the cost is Tq x (2 radius + 1). Where all
    keys take less time than that, they are scored at once, and those outside
    the window hidden. Subclasses say where the centres are and how the weights
    fall off around them.

    Args:
        radius: Keys visible on each side of the centre, `D` in the paper.
        score: A `Score` or its name.
        query_block_size: How many queries are computed at a time; the numbers
            do not depend on it. None chooses it from a memory budget.
        **kwargs: `dropout`, `seed`, `jit_compile`, and `keras.Layer`
            arguments, such as `name`.
    """

    def __init__(
        self,
        radius: int = 10,
        score: Score | str = "general",
        *,
        query_block_size: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.radius = arguments.integer("radius", radius, at_least=0)
        self.query_block_size = arguments.optional_integer(
            "query_block_size", query_block_size
        )
        self.score = stages.get(Score, score, dtype=self.dtype_policy)
        self.alignment = SoftmaxAlignment(dtype=self.dtype_policy)
        self.read = WeightedSumRead(dtype=self.dtype_policy)

    @property
    def width(self) -> int:
        """How many keys a window holds at most."""
        return 2 * self.radius + 1

    def fall_off(self, distance: Tensor) -> Tensor:
        """The factor on a weight at `distance` from the centre."""
        raise NotImplementedError

    def centre(
        self, query: Tensor, memory: Tensors, position: Tensor
    ) -> Tensor:
        """`p_i` of each query, a real number, `(..., Tq)`.

        Args:
            query: `(..., Tq, query_dim)`.
            memory: What all queries share.
            position: The place of each query, integers up to broadcasting.
        """
        raise NotImplementedError

    def scored_shape(self, query_shape: Shape, key_shape: Shape) -> Shape:
        """Of each query's window."""
        return (*query_shape[:-1], self.width, key_shape[-1])

    def attend(
        self,
        tensors: tuple[Tensors, Tensors],
        position: Tensor,
        causal: bool,
        return_attention_scores: bool,
        training: bool | None,
    ) -> Tensor | tuple[Tensor, Tensor]:
        """Context, and the weights over all keys if asked.

        Args:
            tensors: Rows and shared tensors, as from `inputs`.
            position: The place of each query, integers up to broadcasting.
            causal: Whether a query sees no key behind its own place.
            return_attention_scores: Whether to return the weights too.
            training: Whether to apply dropout.
        """
        rows, shared = tensors
        shared = self.prepared(shared, training)
        centre = self.centre(rows["query"], shared, position)
        rows["centre"] = ops.expand_dims(centre, -1)
        kind = self._kind_of_window(shared)

        def of_rows(rows: Tensors, shared: Tensors) -> tuple[Tensor, ...]:
            window = self._window(kind, rows, shared)
            return self._attend(window, rows, shared, causal)[:1]

        if return_attention_scores:
            return self._with_weights(rows, shared, causal)
        (context,) = query_blocks.over_queries(
            self,
            of_rows,
            rows,
            shared,
            self.query_block_size,
            self._numbers_per_query(kind, shared),
            widths=(shared["value"].shape[-1],),
            fewest=kind.fewest(self.radius, ops.shape(shared["value"])[-2]),
            forward_numbers=self._numbers_per_query(
                kind, shared, is_fused=compilation.by_xla()
            ),
        )
        return ops.cast(context, self.compute_dtype)

    def recall(
        self, query: Tensor, memory: Tensors, state: State, position: Tensor
    ) -> tuple[Tensor, Tensor, State]:
        """One query asks the memory: see `StepwiseAttention`."""
        rows = inputs.row(query, position)
        place = ops.expand_dims(position, -1)
        centre = self.centre(rows["query"], memory, place)
        rows["centre"] = ops.expand_dims(centre, -1)
        return (*self._with_weights(rows, memory, causal=False), state)

    def _with_weights(
        self, rows: Tensors, shared: Tensors, causal: bool
    ) -> tuple[Tensor, Tensor]:
        """Context, and the weights over all keys."""
        window = self._window(self._kind_of_window(shared), rows, shared)
        context, portions, total = self._attend(window, rows, shared, causal)
        weights = divided(portions, total, self.compute_dtype)
        return ops.cast(context, self.compute_dtype), window.spread(weights)

    def _window(
        self, kind: type[windows.Window], rows: Tensors, shared: Tensors
    ) -> windows.Window:
        return kind(rows["centre"], self.radius, ops.shape(shared["value"])[-2])

    def _kind_of_window(self, shared: Tensors) -> type[windows.Window]:
        """Few keys are faster to score at once than to gather."""
        key, value = shared["key"], shared["value"]
        if value.shape[-2] is None or isinstance(self.score, PlaceScore):
            return windows.Gathered
        beside = MASKS + (key.shape[-1] + value.shape[-1]) * PRODUCTS
        return min(
            (windows.Whole, windows.Gathered),
            key=lambda kind: self._numbers_per_query(kind, shared, beside),
        )

    def _numbers_per_query(
        self,
        kind: type[windows.Window],
        shared: Tensors,
        beside: float = 0,
        is_fused: bool = False,
    ) -> Any:
        """What the scores hold, and `beside` for each.

        Args:
            kind: Of window.
            shared: What all queries share.
            beside: Numbers for each score.
            is_fused: Whether keys are gathered where they are summed.
        """
        key, value = shared["key"], shared["value"]
        return kind.numbers_per_query(
            self.radius,
            ops.shape(value)[-2],
            self.score.numbers_per_pair() + beside,
            0 if is_fused else key.shape[-1] + value.shape[-1],
        )

    def _attend(
        self,
        window: windows.Window,
        rows: Tensors,
        shared: Tensors,
        causal: bool,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Context, widened, and the portions and total of the weights."""
        query = self.score.project_query(rows["query"])
        is_broken = ops.logical_or(
            rows["is_broken"], window.of_keys(shared["is_broken"])
        )
        scores = masks.poison(
            window.scores(self.score, query, shared["key"]), is_broken
        )
        portions, total = self.alignment.spread(
            scores, _visible(window, rows, shared, causal)
        )
        fall_off = self.fall_off(window.distance)
        portions = portions * ops.cast(fall_off, portions.dtype)
        kept = portions
        if "noise" in shared:
            kept = weight_dropout.drop(
                portions,
                self.dropout,
                shared["noise"],
                rows["position"],
                window.place,
            )
        context = window.read(self.read, kept, total, shared["value"])
        return context, portions, total


def _visible(
    window: windows.Window, rows: Tensors, shared: Tensors, causal: bool
) -> Tensor:
    by_key = shared.get("value_mask")
    by_pair = rows.get("attention_mask")
    return masks.every(
        window.inside(),
        rows.get("query_mask"),
        None if by_key is None else window.of_keys(by_key),
        None if by_pair is None else window.of_pairs(by_pair),
        window.place <= rows["position"] if causal else None,
    )
