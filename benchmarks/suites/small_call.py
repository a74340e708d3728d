"""What an eager call of a small layer costs, beside Keras's.

One example of 16 steps and 64 features, called as `layer(...)` in a loop of
the user's own. `nothing` is a Keras layer that returns what it is given: less
no layer of Keras takes. `start` is one that has the arguments of ours and
starts a compiled program, which does next to nothing: less no compiled layer
takes that is called as ours.
"""

import inspect
from collections.abc import Callable
from typing import Any

import keras

from benchmarks import programs, ways
from benchmarks.cases import Case
from benchmarks.sides import Side, arrays
from benchmarks.suites import layers
from keras_attention.boundary import CallSignature

Call = Callable[..., Any]

#: Both in models that have the same weights.
MODELS: dict[str, Callable[[Case], layers.Pair]] = {
    "multi_head": layers.multi_head,
    "additive": layers.bahdanau,
    "dot": layers.dot,
}


class Nothing(keras.layers.Layer):
    """A layer that does nothing."""

    def call(self, query: Any, value: Any) -> Any:
        """The first of two tensors."""
        return query


class Start(programs.Program):
    """A program behind the arguments of ours."""

    def call(
        self,
        query: Any,
        value: Any = None,
        key: Any = None,
        query_mask: Any = None,
        value_mask: Any = None,
        attention_mask: Any = None,
        use_causal_mask: bool = False,
        return_attention_scores: bool = False,
        training: bool | None = None,
    ) -> Any:
        """What the program makes of the query."""
        return super().call(query)

    call.__signature__ = CallSignature.of(inspect.signature(call))


def cases(quick: bool) -> list[Case]:
    """A row for each layer."""
    return [Case(steps=16, way="eager", layer=layer) for layer in MODELS]


def sides(case: Case) -> dict[str, Side]:
    """Each called without a model around it."""
    models = MODELS[case.layer](case)
    query, *other = ways.inputs_of(models["ours"], case.batch)
    value = other[0] if other else query
    calls = {
        "ours": models["ours"].layers[-1],
        "keras": THEIRS[case.layer](models["keras"]),
    }
    idle = {
        "nothing": Nothing(),
        "start": _start(models["ours"]),
    }
    return {
        **{
            name: Side(_called(call, query, value), arrays)
            for name, call in calls.items()
        },
        **{
            name: Side(_called(call, query, value))
            for name, call in idle.items()
        },
    }


def _start(model: keras.Model) -> Call:
    layer: Call = programs.start(model, "eager", Start).layers[-1]
    return layer


def _called(call: Call, query: Any, value: Any) -> Callable[[], Any]:
    return lambda: call(query, value)


def _multi_head(model: keras.Model) -> Call:
    layer: Call = model.layers[-1]
    return layer


def _additive(model: keras.Model) -> Call:
    W, U, attend = model.layers[-3:]
    return lambda query, value: attend([W(query), value, U(value)])


def _dot(model: keras.Model) -> Call:
    attend = model.layers[-1]
    return lambda query, value: attend([query, value])


#: How the layers of Keras's model are called.
THEIRS = {"multi_head": _multi_head, "additive": _additive, "dot": _dot}
