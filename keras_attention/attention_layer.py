"""Attention is three stages in a row. Start reading here."""

from typing import Any

from keras import ops

from keras_attention import arguments, inputs, masks
from keras_attention.base_layer import Tensor
from keras_attention.inputs import Tensors
from keras_attention.stages import Alignment, Read, Score, divided
from keras_attention.stepwise import ScoringAttention, State


class AttentionLayer(ScoringAttention):
    """Abstract: scores the keys, aligns the scores, reads the values.

    Subclasses choose the three stages in `__init__` and add nothing else:
    `call`, masking, dropout and query blocks are defined here once and not
    overridden.

    Masks are booleans, or integers 0 and 1; True is visible. All of them are
    AND-ed. Inputs may have more axes in front, such as heads.

    Args:
        query_block_size: How many queries are computed at a time; the numbers
            do not depend on it. None chooses it from a memory budget.
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
        use_causal_mask: Whether a query sees no key behind its own place; the
            last query stands at the last key.
        return_attention_scores: Whether to also return the weights, which
            Keras calls scores.
        training: Whether to apply dropout.

    Returns:
        Context, `(batch, Tq, value_dim)`, and, if asked, the weights before
        dropout, `(batch, Tq, Tv)`. A query that sees no key gets zeros.

    Raises:
        ValueError: A mask of another dtype or rank, or a list of tensors.
    """

    score: Score
    alignment: Alignment
    read: Read

    def __init__(
        self, *, query_block_size: int | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.query_block_size = arguments.optional_integer(
            "query_block_size", query_block_size
        )

    def call(
        self,
        query: Tensor,
        value: Tensor,
        key: Tensor | None = None,
        query_mask: Tensor | None = None,
        value_mask: Tensor | None = None,
        attention_mask: Tensor | None = None,
        use_causal_mask: bool = False,
        return_attention_scores: bool = False,
        training: bool | None = None,
    ) -> Tensor | tuple[Tensor, Tensor]:
        """Context, and the weights if asked: see the class."""
        tensors = inputs.rows_and_shared(
            query,
            value,
            key,
            query_mask,
            value_mask,
            attention_mask,
            hides_pairs=use_causal_mask,
        )
        return self.attend(
            tensors, use_causal_mask, return_attention_scores, training
        )

    def attend(
        self,
        tensors: tuple[Tensors, Tensors],
        causal: bool,
        return_attention_scores: bool,
        training: bool | None,
    ) -> Tensor | tuple[Tensor, Tensor]:
        """Context, and the weights if asked.

        Args:
            tensors: Rows and shared tensors, as from `inputs`.
            causal: Whether a query sees no key behind its own place.
            return_attention_scores: Whether to return the weights too.
            training: Whether to apply dropout.
        """
        rows, shared = tensors
        shared = self.prepared(shared, training)

        def attend(rows: Tensors, shared: Tensors) -> tuple[Tensor, ...]:
            return self._attend(rows, shared, causal)

        if return_attention_scores:
            sums, total, portions = attend(rows, shared)
            context = divided(sums, total, self.compute_dtype)
            return context, divided(portions, total, self.compute_dtype)
        sums, total = self.in_blocks(
            lambda rows, shared: attend(rows, shared)[:2],
            rows,
            shared,
            (shared["value"].shape[-1], 1),
            self.query_block_size,
        )
        return divided(sums, total, self.compute_dtype)

    def recall(
        self, query: Tensor, memory: Tensors, state: State, position: Tensor
    ) -> tuple[Tensor, Tensor, State]:
        """One query asks the memory: see `StepwiseAttention`."""
        rows = inputs.row(query, position)
        sums, total, portions = self._attend(rows, memory, causal=False)
        context = divided(sums, total, self.compute_dtype)
        return context, divided(portions, total, self.compute_dtype), state

    def _attend(
        self, rows: Tensors, shared: Tensors, causal: bool
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Sums of values, what divides them, and the portions summed by."""
        query = self.score.project_query(rows["query"])
        scores = self.score.compare(query, shared["key"])
        steps = ops.arange(ops.shape(shared["value"])[-2], dtype="int32")
        by_query = masks.every(
            rows.get("query_mask"),
            rows.get("attention_mask"),
            steps <= rows["position"] if causal else None,
        )
        visible = masks.every(by_query, shared.get("value_mask"))
        scores = inputs.poisoned(scores, rows, shared)
        portions, total = self.alignment.spread(scores, visible)
        kept = self.kept(portions, rows, shared)
        return self.read.read(kept, shared["value"]), total, portions
