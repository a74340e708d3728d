"""Attention that is asked one step at a time, as a recurrent decoder asks."""

from typing import Any, TypeAlias

import keras
from keras import ops

from keras_attention import (
    arguments,
    boundary,
    inputs,
    query_blocks,
    weight_dropout,
)
from keras_attention.base_layer import PerStepLayer, Shape, Tensor
from keras_attention.inputs import Tensors
from keras_attention.stages import Score

State: TypeAlias = dict[str, Tensor]


class StepwiseAttention(PerStepLayer):
    """Abstract: attention of a decoder to an encoder, whole or in steps.

    What depends on the memory alone is computed once, by `remember`; `recall`
    asks it with one query. A mechanism that remembers what it did before keeps
    that in a state, which the caller carries from step to step.
    """

    def remember(
        self,
        value: Tensor,
        key: Tensor | None = None,
        value_mask: Tensor | None = None,
        training: bool | None = None,
    ) -> Tensors:
        """The memory, its keys projected.

        Args:
            value: `(batch, Tv, value_dim)`.
            key: `(batch, Tv, key_dim)`. Defaults to `value`.
            value_mask: `(batch, Tv)`. False keys are not attended to.
            training: Whether weights are to be dropped.
        """
        raise NotImplementedError

    def initial_state(self, memory: Tensors) -> State:
        """The state before the first step; by default there is none."""
        return {}

    def context_dim(self, query_dim: int, value_dim: int) -> int:
        """The size of a context; by default, that of a value."""
        return value_dim

    def recall(
        self, query: Tensor, memory: Tensors, state: State, position: Tensor
    ) -> tuple[Tensor, Tensor, State]:
        """One step.

        Args:
            query: `(batch, 1, query_dim)`.
            memory: From `remember`.
            state: From `initial_state`, or the step before.
            position: The number of the step, integers `(batch,)`.

        Returns:
            Context, `(batch, 1, dim)`; weights, `(batch, 1, Tv)`, the mean of
            the heads if there are several; and the state.
        """
        raise NotImplementedError


class ScoringAttention(StepwiseAttention):
    """Abstract: scores the keys, each projected once, and may drop weights.

    Args:
        dropout: Fraction of the attention weights to drop in training.
        seed: Seed of the dropout.
        **kwargs: `jit_compile`, and `keras.Layer` arguments, such as `name`.
    """

    score: Score

    def __init__(
        self, *, dropout: float = 0.0, seed: int | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.dropout = arguments.rate("dropout", dropout)
        self.seed = arguments.seed(seed)
        self.seed_generator = keras.random.SeedGenerator(self.seed)

    def build(
        self,
        query_shape: Shape,
        value_shape: Shape | None = None,
        key_shape: Shape | None = None,
    ) -> None:
        """Builds the score, and what `build_more` adds."""
        query_shape, value_shape = boundary.query_and_value_shapes(
            self, query_shape, value_shape
        )
        scored = self.scored_shape(query_shape, key_shape or value_shape)
        if not self.score.built:  # A loaded stage arrives already built.
            self.score.build(query_shape, scored)
        self.build_more(query_shape, value_shape)

    def scored_shape(self, query_shape: Shape, key_shape: Shape) -> Shape:
        """Of the keys that a query is scored with; by default of all."""
        return key_shape

    def build_more(self, query_shape: Shape, value_shape: Shape) -> None:
        """Creates weights beside the score's; by default there are none."""

    def is_random(self) -> bool:
        """Whether training needs noise; by default, for dropout."""
        return self.dropout > 0

    def in_blocks(
        self,
        function: query_blocks.Function,
        rows: Tensors,
        shared: Tensors,
        widths: tuple[Any, ...],
        block_size: int | None = None,
    ) -> Any:
        """`function(rows, shared)`, which scores pairs, in blocks of queries.

        See `query_blocks.over_queries`.
        """
        numbers = self.score.numbers_per_pair()
        return query_blocks.over_queries(
            self,
            function,
            rows,
            shared,
            block_size,
            ops.shape(shared["value"])[-2] * numbers,
            widths,
            fewest=query_blocks.FEWEST // numbers,
        )

    def kept(self, weights: Tensor, rows: Tensors, shared: Tensors) -> Tensor:
        """The weights that dropout leaves, if there is noise for it."""
        if "noise" not in shared:
            return weights
        steps = ops.arange(ops.shape(weights)[-1], dtype="int32")
        return weight_dropout.drop(
            weights, self.dropout, shared["noise"], rows["position"], steps
        )

    def remember(
        self,
        value: Tensor,
        key: Tensor | None = None,
        value_mask: Tensor | None = None,
        training: bool | None = None,
    ) -> Tensors:
        """The memory, its keys projected: see `StepwiseAttention`."""
        return self.prepared(inputs.memory(value, key, value_mask), training)

    def prepared(self, shared: Tensors, training: bool | None) -> Tensors:
        """The shared tensors with projected keys, and noise for dropout."""
        prepared = {**shared, "key": self.score.project_key(shared["key"])}
        if training and self.is_random():
            prepared["noise"] = weight_dropout.noise(
                self.seed_generator.next(), shared["value"]
            )
        return prepared
