"""Attention that remembers, from query to query, what it did before."""

from typing import Any

from keras import ops

from keras_attention import (
    compilation,
    inputs,
    masks,
    step_loop,
)
from keras_attention.base_layer import Tensor
from keras_attention.inputs import Tensors
from keras_attention.precision import widened
from keras_attention.reads.weighted_sum import WeightedSumRead
from keras_attention.stepwise import ScoringAttention, State


class RecurrentAttention(ScoringAttention):
    """Abstract: weighs the keys for one query after the other.

        found_i, state_i = weigh(query_i, keys, state_{i-1})
        weights_i        = aligned(found_i)
        context_i        = weights_i . values

    Only `weigh` runs in a loop: what `known` gives before it, and the weights
    and contexts behind it, are made for all queries at once. Subclasses write
    `weigh` and `initial_state`, and `aligned` if what `weigh` finds are not the
    weights. A padded query leaves the state as it was.

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

    def known(self, rows: Tensors, memory: Tensors) -> Tensors:
        """The rows, and what of them needs no state; by default nothing.

        Args:
            rows: `query`, `(batch, Tq, query_dim)`, and `is_broken` and
                `position`, `(batch, Tq, 1)`.
            memory: From `remember`.
        """
        return rows

    def weigh(
        self,
        rows: Tensors,
        memory: Tensors,
        visible: Tensor | None,
        state: State,
    ) -> tuple[Tensor, State]:
        """What is found for one query, and the new state.

        Args:
            rows: What `known` gives, of one query: `query`, `(batch, 1,
                query_dim)`, and so on.
            memory: From `remember`.
            visible: True where the query sees a key, up to broadcasting.
            state: From `initial_state`, or the query before.

        Returns:
            What `aligned` takes, `(batch, 1, Tv)`, in float32 at least; and the
            state.
        """
        raise NotImplementedError

    def aligned(self, found: Tensor, visible: Tensor | None) -> Tensor:
        """The weights of queries, 0 where not visible: by default, `found`."""
        return found

    def scores(self, rows: Tensors, memory: Tensors) -> Tensor:
        """In float32 at least; NaN where something is broken."""
        query = self.score.project_query(rows["query"])
        scores = self.score.compare(query, memory["key"])
        return inputs.poisoned(widened(scores), rows, memory)

    def reading(
        self, rows: Tensors, memory: Tensors, weights: Tensor
    ) -> Tensor:
        """The contexts of weights, some of which are dropped in training."""
        kept = self.kept(weights, rows, memory)
        return self.read.read(kept, memory["value"])

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
        found = self._over_queries(self.known(rows, memory), memory)
        context, weights = self._read(rows, memory, found)
        return (context, weights) if return_attention_scores else context

    def recall(
        self, query: Tensor, memory: Tensors, state: State, position: Tensor
    ) -> tuple[Tensor, Tensor, State]:
        """One query asks the memory: see `StepwiseAttention`."""
        rows = self.known(inputs.row(query, position), memory)
        found, state = self._step(rows, memory, state)
        return *self._read(rows, memory, found), state

    def _over_queries(self, rows: Tensors, memory: Tensors) -> Tensor:
        pure = compilation.stateless(self, self._step)

        def step(state: State, row: Tensors, whole: Any) -> Any:
            row = {name: ops.expand_dims(x, -2) for name, x in row.items()}
            found, state = pure(whole[0], row, whole[1], state)
            return found[..., 0, :], state

        found, _ = step_loop.over(
            step,
            zeros(memory)[..., 0, :],
            self.initial_state(memory),
            {name: ops.moveaxis(x, -2, 0) for name, x in rows.items()},
            (compilation.values_of(self), memory),
        )
        return ops.moveaxis(found, 0, -2)

    def _step(
        self, rows: Tensors, memory: Tensors, state: State
    ) -> tuple[Tensor, State]:
        found, new = self.weigh(rows, memory, _visible(rows, memory), state)
        if "query_mask" in rows:
            new = {
                name: ops.where(rows["query_mask"], x, state[name])
                for name, x in new.items()
            }
        return found, new

    def _read(
        self, rows: Tensors, memory: Tensors, found: Tensor
    ) -> tuple[Tensor, Tensor]:
        weights = self.aligned(found, _visible(rows, memory))
        context = self.reading(rows, memory, weights)
        dtype = self.compute_dtype
        return ops.cast(context, dtype), ops.cast(weights, dtype)


def _visible(rows: Tensors, memory: Tensors) -> Tensor | None:
    return masks.every(
        rows.get("query_mask"),
        rows.get("attention_mask"),
        memory.get("value_mask"),
    )


def zeros(memory: Tensors) -> Tensor:
    """A number for each place, `(batch, 1, Tv)`, in float32 at least."""
    value = widened(memory["value"])
    return masks.of_keys(ops.zeros_like(value[..., 0]))


def start(memory: Tensors) -> Tensor:
    """1 at the first visible place, `(batch, 1, Tv)`: reading begins there."""
    visible = ops.ones_like(zeros(memory), "bool")
    if "value_mask" in memory:
        visible = ops.logical_and(visible, memory["value_mask"])
    number = ops.cumsum(ops.cast(visible, "int32"), axis=-1)
    is_first = ops.logical_and(visible, number == 1)
    return ops.where(is_first, 1.0, zeros(memory))
