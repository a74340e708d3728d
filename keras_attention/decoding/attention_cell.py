"""A recurrent cell that attends at every step."""

import contextlib
import inspect
from collections.abc import Iterator
from typing import Any, TypeAlias

import keras
from keras import ops

from keras_attention import arguments, products
from keras_attention.base_layer import Shape, Tensor
from keras_attention.inputs import Tensors
from keras_attention.serialization import SerializableLayer, export_part
from keras_attention.stepwise import StepwiseAttention

State: TypeAlias = dict[str, Any]

ORDERS = ("luong", "bahdanau")


@export_part
class AttentionCell(SerializableLayer):
    """A recurrent cell and an attention, one asking the other.

    In Luong's order the new state asks:

        s_i = cell([y_{i-1}; h_{i-1}], s_{i-1})      h only with input feeding
        c_i = attention(s_i, memory)
        h_i = tanh(W [c_i; s_i])

    In Bahdanau's order the previous state asks, and the context goes into the
    step:

        c_i = attention(s_{i-1}, memory)
        s_i = cell([y_{i-1}; h_{i-1}; c_i], s_{i-1})
        h_i = tanh(W [c_i; s_i])

    `h_i` is the output. Without `units` it is `[c_i; s_i]`, and what is fed is
    the context alone.

    Args:
        cell: Any Keras RNN cell: `keras.layers.LSTMCell`, `GRUCell`,
            `StackedRNNCells`, or one's own.
        attention: A `StepwiseAttention`, such as `BahdanauAttention`,
            `LocalMonotonicAttention`, `MonotonicAttention` or
            `MultiHeadAttention`.
        order: `"luong"` or `"bahdanau"`.
        units: Size of `h`, or None for `[c; s]`.
        activation: Of `h`; the paper's is `"tanh"`.
        input_feeding: Whether the output is part of the next input.
        query_state: Which of the cell's states asks, a number in the
            flattened list of them, or several to be joined. By default, in
            Luong's order the cell's output, in Bahdanau's the first state of
            the last cell: `h` of an LSTM.
        **kwargs: `keras.Layer` arguments, such as `name`.

    Reference:
        [Luong et al., 2015](https://arxiv.org/abs/1508.04025), 3 and 3.3;
        [Bahdanau et al., 2015](https://arxiv.org/abs/1409.0473), A.1.2.
    """

    def __init__(
        self,
        cell: keras.Layer,
        attention: StepwiseAttention,
        order: str = "luong",
        *,
        units: int | None = None,
        activation: Any = "tanh",
        input_feeding: bool = False,
        query_state: int | tuple[int, ...] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.cell = cell
        self.attention = _stepwise(attention)
        self.order = arguments.choice("order", order, ORDERS)
        self.units = arguments.optional_integer("units", units)
        self.activation = arguments.activation("activation", activation)
        self.input_feeding = arguments.boolean("input_feeding", input_feeding)
        self.query_state = _numbers(query_state)
        takes = inspect.signature(cell.call).parameters
        self._cell_takes_training = "training" in takes

    def build(self, input_shape: Shape, memory_shape: Shape) -> None:
        """Builds attention and cell, and creates `W`.

        Args:
            input_shape: `(batch, input_dim)`.
            memory_shape: `(batch, Tv, value_dim)`.
        """
        states = keras.tree.flatten(self.cell.get_initial_state(batch_size=1))
        output_dim = getattr(self.cell, "output_size", states[0].shape[-1])
        asked = self._asked(states, ops.zeros((1, output_dim)))
        query_shape = (memory_shape[0], 1, asked.shape[-1])
        if not self.attention.built:  # A loaded part arrives already built.
            self.attention.build(query_shape, memory_shape)
        size: Any
        value_dim: Any
        size, value_dim = input_shape[-1], memory_shape[-1]
        self._context_dim = self.attention.context_dim(
            asked.shape[-1], value_dim
        )
        if self.order == "bahdanau":
            size += self._context_dim
        both = self._context_dim + output_dim
        self.output_size = self.units or both
        if self.input_feeding:
            size += self.units or self._context_dim
        if not self.cell.built:
            self.cell.build((input_shape[0], size))
        if self.units:
            self.W = self.add_weight((both, self.units), name="W")

    def initial_state(self, memory: Tensors, cell_state: Any = None) -> State:
        """The state before the first step.

        Args:
            memory: From `attention.remember`.
            cell_state: The cell's states, `(batch, n)` each, as a tree or a
                flat list; zeros by default.
        """
        batch = ops.shape(memory["value"])[0]
        zeros = self.cell.get_initial_state(batch_size=batch)
        state: State = {
            "cell": _packed(zeros, cell_state),
            "attention": self.attention.initial_state(memory),
            "position": ops.zeros((batch,), "int32"),
        }
        if self.input_feeding:
            size = self.units or self._context_dim
            state["fed"] = ops.zeros((batch, size), self.compute_dtype)
        return state

    def step(
        self,
        inputs: Tensor,
        state: State,
        memory: Tensors,
        training: bool | None = None,
    ) -> tuple[Tensor, Tensor, State]:
        """One step.

        Args:
            inputs: `y_{i-1}`, `(batch, input_dim)`.
            state: From `initial_state`, or the step before.
            memory: From `attention.remember`.
            training: Whether the cell drops.

        Returns:
            `h_i`, `(batch, output_size)`; the weights, `(batch, Tv)`; and the
            state.
        """
        feed = [state["fed"]] if self.input_feeding else []
        if self.order == "bahdanau":
            query = self._asked(keras.tree.flatten(state["cell"]), None)
            context, weights, after = self._attend(query, state, memory)
            output, states = self._run(
                [inputs, *feed, context], state["cell"], training
            )
        else:
            output, states = self._run([inputs, *feed], state["cell"], training)
            query = self._asked(keras.tree.flatten(states), output)
            context, weights, after = self._attend(query, state, memory)
        h = self._joined(context, output)
        new: State = {
            "cell": states,
            "attention": after,
            "position": state["position"] + 1,
        }
        if self.input_feeding:
            new["fed"] = h if self.units else context
        return h, weights, new

    @contextlib.contextmanager
    def dropping(
        self, inputs: Tensor, state: State, memory: Tensors, training: Any
    ) -> Iterator[None]:
        """Within it, the cell drops the same at every step.

        Keras's cells draw what they drop at their first step, and keep it. So
        that a loop finds it there, a step is made in front.
        """
        if not training:
            yield
            return
        self._forget_dropout()
        self.step(inputs, state, memory, training)
        yield
        self._forget_dropout()

    def _forget_dropout(self) -> None:
        for layer in self.cell._flatten_layers():
            for name in ("reset_dropout_mask", "reset_recurrent_dropout_mask"):
                getattr(layer, name, lambda: None)()

    def _attend(
        self, query: Tensor, state: State, memory: Tensors
    ) -> tuple[Tensor, Tensor, State]:
        context, weights, after = self.attention.recall(
            ops.expand_dims(query, 1),
            memory,
            state["attention"],
            state["position"],
        )
        return ops.squeeze(context, 1), ops.squeeze(weights, 1), after

    def _run(
        self, inputs: list[Tensor], states: Any, training: bool | None
    ) -> tuple[Tensor, Any]:
        x = inputs[0]
        if len(inputs) > 1:
            x = ops.concatenate(inputs, axis=-1)
        more = {"training": training} if self._cell_takes_training else {}
        output, new = self.cell(x, states, **more)
        return output, keras.tree.pack_sequence_as(
            states, keras.tree.flatten(new)
        )

    def _asked(self, states: list[Tensor], output: Tensor | None) -> Tensor:
        """The query, out of the cell's states or its output."""
        if self.query_state is None:
            is_new = self.order == "luong"
            return output if is_new else states[self._last_hidden()]
        chosen = [states[number] for number in self.query_state]
        return ops.concatenate(chosen, axis=-1)

    def _last_hidden(self) -> int:
        """The number of the last cell's first state."""
        cells = getattr(self.cell, "cells", [self.cell])
        sizes = [len(keras.tree.flatten(cell.state_size)) for cell in cells]
        return sum(sizes[:-1])

    def _joined(self, context: Tensor, output: Tensor) -> Tensor:
        both = ops.concatenate([context, output], axis=-1)
        if not self.units:
            return both
        return self.activation(products.by_matrix(both, self.W))


def _stepwise(attention: Any) -> StepwiseAttention:
    if isinstance(attention, StepwiseAttention):
        return attention
    raise ValueError(
        "`attention` must be an attention of a decoder to an encoder, such as "
        f"BahdanauAttention. Received: attention={attention!r}"
    )


def _numbers(query_state: Any) -> tuple[int, ...] | None:
    if query_state is None:
        return None
    several = isinstance(query_state, (list, tuple))
    return tuple(
        arguments.integer("query_state", number, at_least=0)
        for number in (query_state if several else [query_state])
    )


def _packed(zeros: Any, cell_state: Any) -> Any:
    if cell_state is None:
        return zeros
    wanted, given = keras.tree.flatten(zeros), keras.tree.flatten(cell_state)
    if len(given) != len(wanted):
        raise ValueError(
            f"`initial_state` must hold the {len(wanted)} states of the cell. "
            f"Received: initial_state with {len(given)} tensors"
        )
    cast = [ops.cast(x, y.dtype) for x, y in zip(given, wanted, strict=True)]
    return keras.tree.pack_sequence_as(zeros, cast)
