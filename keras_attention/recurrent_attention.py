"""Attention that remembers, from query to query, what it did before."""

from typing import Any

from keras import ops

from keras_attention import (
    compilation,
    inputs,
    masks,
    step_loop,
    weight_dropout,
)
from keras_attention.base_layer import Tensor
from keras_attention.inputs import Tensors
from keras_attention.precision import widened
from keras_attention.reads.weighted_sum import WeightedSumRead
from keras_attention.stepwise import ScoringAttention, State


class RecurrentAttention(ScoringAttention):
    """Abstract: weighs the keys for one query after the other.

        weights_i, state_i = weigh(query_i, keys, state_{i-1})
        context_i          = weights_i . values

    Subclasses write `weigh` and `initial_state`. A padded query leaves the
    state as it was.

    Args:
        **kwargs: `dropout`, `seed`, `jit_compile`, and `keras.Layer`
            arguments, such as `name`.

    Call arguments:
        query: `(batch, Tq, query_dim)`.
        value: `(batch, Tv, value_dim)`.
        key: `(batch, Tv, key_dim)`. Defaults to `value`.
        query_mask: `(batch, Tq)`. A query that is False gets zeros. Kept as
            the output's mask.
        value_mask: `(batch, Tv)`. False keys are not attended to.
        attention_mask: `(batch, Tv)`, `(batch, Tq, Tv)` or `(1, Tq, Tv)`: which
            keys each query may see.
        return_attention_scores: Whether to also return the weights, which
            Keras calls scores.
        training: Whether to apply dropout.

    Returns:
        Context, `(batch, Tq, value_dim)`, and, if asked, the weights before
        dropout, `(batch, Tq, Tv)`. A query that sees no key gets zeros.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.read = WeightedSumRead(dtype=self.dtype_policy)

    def weigh(
        self,
        rows: Tensors,
        memory: Tensors,
        visible: Tensor | None,
        state: State,
    ) -> tuple[Tensor, State]:
        """The weights of one query, in float32 at least, and the new state.

        Args:
            rows: What the query has: `query`, `(batch, 1, query_dim)`, and
                `is_broken` and `position`, `(batch, 1, 1)`.
            memory: From `remember`.
            visible: True where the query sees a key, up to broadcasting.
            state: From `initial_state`, or the query before.

        Returns:
            `(batch, 1, Tv)`, 0 where not visible; and the state.
        """
        raise NotImplementedError

    def scores(self, rows: Tensors, memory: Tensors) -> Tensor:
        """Of one query, in float32 at least; NaN where something is broken."""
        query = self.score.project_query(rows["query"])
        scores = self.score.compare(query, memory["key"])
        is_broken = ops.logical_or(rows["is_broken"], memory["is_broken"])
        return masks.poison(widened(scores), is_broken)

    def after_reading(
        self, rows: Tensors, context: Tensor, state: State
    ) -> State:
        """The state, if it depends on the context; by default it does not."""
        return state

    def call(
        self,
        query: Tensor,
        value: Tensor,
        key: Tensor | None = None,
        query_mask: Tensor | None = None,
        value_mask: Tensor | None = None,
        attention_mask: Tensor | None = None,
        return_attention_scores: bool = False,
        training: bool | None = None,
    ) -> Tensor | tuple[Tensor, Tensor]:
        """Context, and the weights if asked: see the class."""
        rows, shared = inputs.rows_and_shared(
            query, value, key, query_mask, value_mask, attention_mask
        )
        memory = self.prepared(shared, training)
        context, weights = self._over_queries(rows, memory)
        return (context, weights) if return_attention_scores else context

    def recall(
        self, query: Tensor, memory: Tensors, state: State, position: Tensor
    ) -> tuple[Tensor, Tensor, State]:
        """One query asks the memory: see `StepwiseAttention`."""
        return self._step(inputs.row(query, position), memory, state)

    def _over_queries(
        self, rows: Tensors, memory: Tensors
    ) -> tuple[Tensor, Tensor]:
        pure = compilation.stateless(self, self._step)

        def step(state: State, row: Tensors, whole: Any) -> Any:
            row = {name: ops.expand_dims(x, -2) for name, x in row.items()}
            context, weights, state = pure(whole[0], row, whole[1], state)
            return (context[..., 0, :], weights[..., 0, :]), state

        by_step = {name: ops.moveaxis(x, -2, 0) for name, x in rows.items()}
        value = memory["value"]
        like = (
            ops.zeros_like(ops.sum(value, axis=-2)),
            ops.zeros_like(value[..., 0]),
        )
        outputs, _ = step_loop.over(
            step,
            like,
            self.initial_state(memory),
            by_step,
            (compilation.values_of(self), memory),
        )
        context, weights = (ops.moveaxis(x, 0, -2) for x in outputs)
        return context, weights

    def _step(
        self, rows: Tensors, memory: Tensors, state: State
    ) -> tuple[Tensor, Tensor, State]:
        visible = masks.every(
            rows.get("query_mask"),
            rows.get("attention_mask"),
            memory.get("value_mask"),
        )
        weights, new = self.weigh(rows, memory, visible, state)
        kept = weights
        if "noise" in memory:
            steps = ops.arange(ops.shape(weights)[-1], dtype="int32")
            kept = weight_dropout.drop(
                weights, self.dropout, memory["noise"], rows["position"], steps
            )
        context = self.read.read(kept, memory["value"])
        new = self.after_reading(rows, context, new)
        if "query_mask" in rows:
            new = {
                name: ops.where(rows["query_mask"], x, state[name])
                for name, x in new.items()
            }
        dtype = self.compute_dtype
        return ops.cast(context, dtype), ops.cast(weights, dtype), new


def zeros(memory: Tensors) -> Tensor:
    """A number for each place, `(batch, 1, Tv)`, in float32 at least."""
    dtype = widened(memory["value"]).dtype
    return ops.cast(ops.zeros_like(memory["is_broken"]), dtype)


def start(memory: Tensors) -> Tensor:
    """1 at the first visible place, `(batch, 1, Tv)`: reading begins there."""
    visible = ops.ones_like(memory["is_broken"])
    if "value_mask" in memory:
        visible = ops.logical_and(visible, memory["value_mask"])
    number = ops.cumsum(ops.cast(visible, "int32"), axis=-1)
    is_first = ops.logical_and(visible, number == 1)
    return ops.where(is_first, 1.0, zeros(memory))
