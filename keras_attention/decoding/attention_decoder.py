"""A recurrent decoder: teacher-forced in one loop, generating in another."""

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from keras_attention import (
    arguments,
    boundary,
    compilation,
    padding,
    step_loop,
)
from keras_attention.base_layer import BaseLayer, Shape, Tensor
from keras_attention.decoding import search, strategies
from keras_attention.decoding.attention_cell import AttentionCell, State
from keras_attention.decoding.search import Generated, Rules
from keras_attention.decoding.strategies import Strategy
from keras_attention.inputs import Tensors
from keras_attention.serialization import export_part


@export_part
class AttentionDecoder(BaseLayer):
    """Tokens in, the logits of the next tokens out; or a memory in, tokens out.

        h_i      = cell(embedding(y_{i-1}), h_{i-1}, memory)
        logits_i = output_layer(h_i)

    Teacher-forced, the given tokens are the inputs, and all logits are computed
    at once behind the loop. The memory is an argument of each call: its keys
    are projected once, and a beam search repeats it by itself.

    Args:
        cell: An `AttentionCell`.
        embedding: A layer that maps tokens `(batch, T)` to vectors, such as
            `keras.layers.Embedding`; if it gives a mask, padded tokens leave
            the state as it was.
        output_layer: A layer that maps outputs `(batch, T, units)` to logits,
            such as `keras.layers.Dense(vocabulary)`.
        scheduled_sampling: In training, how often a given token is replaced
            by one drawn from the model's own probabilities.
        seed: Seed of the sampling.
        **kwargs: `jit_compile`, and `keras.Layer` arguments, such as `name`.

    Call arguments:
        targets: Integers `(batch, T)`: what stands before each token that is
            to be predicted, so first the start token.
        memory: `(batch, Tv, value_dim)`.
        memory_mask: `(batch, Tv)`. False steps are not attended to.
        targets_mask: `(batch, T)`. By default the embedding's.
        initial_state: A list of the cell's states, `(batch, n)` each. Zeros by
            default.
        return_attention_scores: Whether to also return the weights.
        return_state: Whether to also return the cell's last states, a list.
        training: Whether to drop and to sample.

    Returns:
        Logits, `(batch, T, tokens)`; if asked, the weights, `(batch, T, Tv)`;
        if asked, the list of states.

    Example:
        >>> decoder = AttentionDecoder(
        ...     AttentionCell(keras.layers.GRUCell(8), BahdanauAttention(8)),
        ...     keras.layers.Embedding(20, 4),
        ...     keras.layers.Dense(20),
        ... )
        >>> memory = ops.ones((2, 5, 6))
        >>> decoder(ops.ones((2, 3), "int32"), memory).shape
        TensorShape([2, 3, 20])
        >>> decoder.generate(
        ...     memory, max_length=7, start_id=1, end_id=2
        ... ).tokens.shape
        TensorShape([2, 7])

    Reference:
        [Bahdanau et al., 2015](https://arxiv.org/abs/1409.0473);
        [Luong et al., 2015](https://arxiv.org/abs/1508.04025); scheduled
        sampling: [Bengio et al., 2015](https://arxiv.org/abs/1506.03099).
    """

    def __init__(
        self,
        cell: AttentionCell,
        embedding: keras.Layer,
        output_layer: keras.Layer,
        *,
        scheduled_sampling: float = 0.0,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if not isinstance(cell, AttentionCell):
            raise ValueError(
                f"`cell` must be an AttentionCell. Received: cell={cell!r}"
            )
        self.cell = cell
        self.embedding = embedding
        self.output_layer = output_layer
        self.scheduled_sampling = arguments.rate(
            "scheduled_sampling", scheduled_sampling
        )
        self.seed = arguments.seed(seed)
        self.seed_generator = keras.random.SeedGenerator(self.seed)

    def build(self, targets_shape: Shape, memory_shape: Shape) -> None:
        """Builds embedding, cell and output."""
        if not self.embedding.built:
            self.embedding.build(targets_shape)
        size = self.embedding.compute_output_shape(targets_shape)[-1]
        batch, steps = targets_shape
        if not self.cell.built:
            self.cell.build((batch, size), memory_shape)
        if not self.output_layer.built:
            self.output_layer.build((batch, steps, self.cell.output_size))

    def compute_mask(self, inputs: Tensor, previous_mask: Tensor) -> Tensor:
        """The embedding's mask of the targets."""
        return self.embedding.compute_mask(inputs)

    def call(
        self,
        targets: Tensor,
        memory: Tensor,
        memory_mask: Tensor | None = None,
        targets_mask: Tensor | None = None,
        initial_state: list[Tensor] | None = None,
        return_attention_scores: bool = False,
        return_state: bool = False,
        training: bool | None = None,
    ) -> Any:
        """Logits, and what is asked: see the class."""
        if targets_mask is None:
            targets_mask = self.embedding.compute_mask(targets)
        remembered = self.cell.attention.remember(
            memory, None, memory_mask, training
        )
        state = self.cell.initial_state(remembered, initial_state)
        samples = training and self.scheduled_sampling > 0
        force = self._sampled if samples else self._forced
        logits, weights, last = force(
            targets, targets_mask, remembered, state, training
        )
        results = [logits]
        if return_attention_scores:
            results.append(weights)
        if return_state:
            results.append(keras.tree.flatten(last["cell"]))
        return results[0] if len(results) == 1 else tuple(results)

    def generate(
        self,
        memory: Tensor,
        memory_mask: Tensor | None = None,
        initial_state: list[Tensor] | None = None,
        *,
        max_length: int,
        start_id: int,
        end_id: int,
        strategy: Strategy | str = "greedy",
        n_best: int | None = None,
        min_length: int = 0,
        prefix: Tensor | None = None,
        forbidden: Sequence[int] = (),
        **options: Any,
    ) -> Generated:
        """Tokens for a memory.

        Each example gets what it would get alone, except by sampling.

        Args:
            memory: `(batch, Tv, value_dim)`.
            memory_mask: `(batch, Tv)`. False steps are not attended to. By
                default the mask that Keras has hung on the memory.
            initial_state: As of a call.
            max_length: How many tokens at most, the end among them.
            start_id: The token before the first.
            end_id: The token that ends a sequence.
            strategy: `"greedy"`, `"sample"`, `"beam"`, or a `Strategy`.
            n_best: How many hypotheses of a beam to return, best first. By
                default the best alone, without an axis for them.
            min_length: How many tokens at least, the end among them.
            prefix: Integers `(batch, P)` that the first tokens have to be;
                below 0, any token may stand there.
            forbidden: Tokens that are never chosen.
            **options: Of a strategy's name: `temperature`, `top_k`, `top_p`
                and `seed` of `"sample"`; `width`, `length_penalty` and
                `coverage_penalty` of `"beam"`.

        Returns:
            `Generated`: `tokens`, `lengths`, `log_probs`, `scores` and
            `alignments`, each `(batch, n_best, ...)` or `(batch, ...)`.

        Raises:
            ValueError: `strategy` has no such option, or `n_best` is more
                than its width.
        """
        chosen = strategies.get(strategy, **options)
        rules = Rules(
            max_length, start_id, end_id, min_length, tuple(forbidden)
        )
        if n_best is not None and not 1 <= n_best <= chosen.width:
            raise ValueError(
                f"`n_best` must be from 1 to the width {chosen.width} of the "
                f"strategy. Received: n_best={n_best!r}"
            )
        if not self.built:
            raise ValueError(
                "`generate` needs a decoder that has been called or built "
                "with targets: its weights do not exist yet."
            )
        if memory_mask is None:
            memory_mask = padding.mask_of(memory)
        given = {
            "memory": ops.convert_to_tensor(memory, self.compute_dtype),
            "memory_mask": boundary.as_mask("memory_mask", memory_mask),
            "initial_state": initial_state,
            "prefix": _integers(prefix),
            "strategy": chosen,
            "rules": rules,
        }
        found = Generated(*compilation.run(self, _generated, given))
        return _best(found, n_best)

    def _forced(
        self,
        targets: Tensor,
        targets_mask: Tensor | None,
        memory: Tensors,
        state: State,
        training: bool | None,
    ) -> tuple[Tensor, Tensor, State]:
        rows = {"inputs": self.embedding(targets)}
        run = compilation.stateless(self.cell, self.cell.step)

        def step(state: State, row: Tensors, whole: Any) -> Any:
            values, memory = whole
            h, weights, new = run(
                values, row["inputs"], state, memory, training
            )
            return (h, weights), _held(row, new, state)

        whole = (compilation.values_of(self.cell), memory)
        like = self._zeros_of_outputs(memory)
        first = ops.sum(rows["inputs"], axis=1)
        with self.cell.dropping(first, state, memory, training):
            (h, weights), last = self._over_targets(
                step, rows, targets_mask, state, whole, like
            )
        return self.output_layer(h), weights, last

    def _sampled(
        self,
        targets: Tensor,
        targets_mask: Tensor | None,
        memory: Tensors,
        state: State,
        training: bool | None,
    ) -> tuple[Tensor, Tensor, State]:
        """With its own tokens in place of some that are given."""
        shape = ops.shape(targets)
        draw = {"seed": self.seed_generator}
        rows = {
            "given": ops.cast(targets, "int32"),
            "coin": keras.random.uniform(shape, **draw),
            "noise": keras.random.uniform(shape, **draw),
        }

        def one_step(row: Tensors, state: State, memory: Tensors) -> Any:
            is_given = row["coin"] >= self.scheduled_sampling
            token = ops.where(is_given, row["given"], state["own"])
            inputs = self.embedding(ops.expand_dims(token, 1))[:, 0]
            h, weights, new = self.cell.step(
                inputs, state["decoder"], memory, training
            )
            logits = self.output_layer(ops.expand_dims(h, 1))[:, 0]
            own = strategies.draw(ops.softmax(logits), row["noise"])
            return logits, weights, {"decoder": new, "own": own}

        run = compilation.stateless(self, one_step)

        def step(state: State, row: Tensors, whole: Any) -> Any:
            values, memory = whole
            logits, weights, new = run(values, row, state, memory)
            return (logits, weights), _held(row, new, state)

        zeros, weights = self._zeros_of_outputs(memory)
        logits = self.output_layer(ops.expand_dims(zeros, 1))[:, 0]
        first = self.embedding(ops.zeros_like(rows["given"][:, :1]))[:, 0]
        with self.cell.dropping(first, state, memory, training):
            (logits, weights), last = self._over_targets(
                step,
                rows,
                targets_mask,
                {"decoder": state, "own": rows["given"][:, 0]},
                (compilation.values_of(self), memory),
                (ops.zeros_like(logits), weights),
            )
        return logits, weights, last["decoder"]

    def _over_targets(
        self,
        step: Any,
        rows: Tensors,
        mask: Tensor | None,
        state: State,
        whole: Any,
        like: tuple[Tensor, Tensor],
    ) -> tuple[list[Tensor], State]:
        if mask is not None:
            rows = {**rows, "mask": mask}
        by_step = {name: ops.swapaxes(x, 0, 1) for name, x in rows.items()}
        outputs, last = step_loop.over(step, like, state, by_step, whole)
        return [ops.swapaxes(x, 0, 1) for x in outputs], last

    def _zeros_of_outputs(self, memory: Tensors) -> tuple[Tensor, Tensor]:
        """Of a step: `h`, and the weights."""
        batch, *_, steps, _ = ops.shape(memory["value"])
        dtype = self.compute_dtype
        h = ops.zeros((batch, self.cell.output_size), dtype)
        return h, ops.zeros((batch, steps), dtype)


def _held(row: Tensors, new: State, state: State) -> State:
    """The state of padded tokens stays as it was."""
    if "mask" not in row:
        return new

    def hold(after: Tensor, before: Tensor) -> Tensor:
        ones = [1] * (len(after.shape) - 1)
        return ops.where(ops.reshape(row["mask"], (-1, *ones)), after, before)

    held: State = keras.tree.map_structure(hold, new, state)
    return held


def _generated(
    decoder: AttentionDecoder,
    memory: Tensor,
    memory_mask: Tensor | None,
    initial_state: list[Tensor] | None,
    prefix: Tensor | None,
    strategy: Strategy,
    rules: Rules,
) -> tuple[Tensor | None, ...]:
    """All hypotheses, as `Generated` has them."""
    cell = decoder.cell
    remembered = cell.attention.remember(memory, None, memory_mask)
    wide = search.repeated(remembered, strategy.width)

    def step(tokens: Tensor, state: State) -> tuple[Tensor, Tensor, State]:
        inputs = decoder.embedding(ops.expand_dims(tokens, 1))[:, 0]
        h, weights, state = cell.step(inputs, state, wide)
        logits = decoder.output_layer(ops.expand_dims(h, 1))[:, 0]
        return logits, weights, state

    zeros, weights = decoder._zeros_of_outputs(remembered)
    noise = None
    if strategy.needs_noise:
        has_seed = strategy.seed is not None
        noise = keras.random.uniform(
            (rules.max_length, ops.shape(memory)[0], 1),
            seed=strategy.seed if has_seed else decoder.seed_generator,
        )
    return tuple(
        search.generate(
            step,
            cell.initial_state(remembered, initial_state),
            strategy,
            rules,
            like=(zeros[:, 0], weights),
            prefix=prefix,
            visible=memory_mask,
            noise=noise,
        )
    )


def _integers(x: Any) -> Tensor | None:
    return None if x is None else ops.convert_to_tensor(x, "int32")


def _best(found: Generated, n_best: int | None) -> Generated:
    return Generated(
        *(
            None if x is None else x[:, 0] if n_best is None else x[:, :n_best]
            for x in found
        )
    )
