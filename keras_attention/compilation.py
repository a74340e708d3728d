"""The XLA-compiled call of every layer. TensorFlow only.

Called eagerly, or by Keras's own trainer (`fit`, `evaluate`, `predict`), a
layer's call is one `jit_compile=True` program. In any other graph (a user's
`tf.function`, an export) it is plain ops, so that the outer function decides
and an exported file holds no compiled function. On JAX and PyTorch Keras
compiles whole models itself, and calls pass through here untouched.

Equal layers of the package share their programs. One program compiles at most
`MAX_SIGNATURES` different input shapes; later ones run as plain ops. In the
trainer, an input with an unknown length runs as plain ops: XLA would compile
each new length.

A program's gradient is a second program (`program_gradient`), whose results all
have to be made. So inputs of which no tape will ask a gradient have none.
"""

import collections
import functools
import inspect
import json
import sys
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

import keras

from keras_attention import program_gradient

#: How many input signatures one program compiles before it stops.
MAX_SIGNATURES = 32

#: How many programs are kept for sharing; the least recently used goes first.
MAX_PROGRAMS = 128

#: The frames by which Keras's trainer is recognised. A test pins the name.
TRAINER = "keras.src.backend.tensorflow.trainer"
TRACING = "tensorflow.python.eager.polymorphic_function"

#: Of each tensor its name, shape and dtype.
Signature: TypeAlias = tuple[tuple[Any, tuple[int | None, ...], Any], ...]

_enabled = True
_plain = threading.local()  # Whether a layer runs as plain ops just now.


def set_jit_compile(enabled: bool) -> None:
    """Turns the compiled calls of all layers on or off.

    Args:
        enabled: False runs every layer as plain ops; True leaves the choice
            to each layer's `jit_compile`.
    """
    global _enabled
    _enabled = bool(enabled)


def is_enabled() -> bool:
    """Whether `set_jit_compile` leaves compiled calls on."""
    return _enabled


def run(
    layer: keras.Layer, call: Callable[..., Any], arguments: dict[str, Any]
) -> Any:
    """`call(layer, **arguments)`, compiled where that is promised."""
    if not _is_compiled_here(layer):
        return _as_plain_ops(layer, call, arguments)
    import tensorflow as tf

    tensors, settings = _tensors_and_settings(arguments)
    tensors = {
        name: x if isinstance(x, tf.Tensor) else tf.convert_to_tensor(x)
        for name, x in tensors.items()
    }
    signature = _signature(tensors)
    program = _program_of(layer, call, settings)
    if not program.accepts(signature):
        return _as_plain_ops(layer, call, arguments)
    return program(layer, tensors, signature)


def in_trainer() -> bool:
    """Whether Keras's trainer traces this call into its own step."""
    return _trainer_frame() is not None


def _trainer_frame() -> Any:
    for module, frame in _frames():
        if module == TRAINER:
            return frame
        if module.startswith(TRACING):
            return None
    return None


def _frames() -> Iterator[tuple[str, Any]]:
    """Who called, and the name of its module; then who called that."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        yield frame.f_globals.get("__name__", ""), frame
        frame = frame.f_back


def by_xla() -> bool:
    """Whether what is traced now will be compiled by XLA; on TensorFlow."""
    if keras.backend.backend() != "tensorflow":
        return False
    return any(
        getattr(frame.f_locals.get("self"), "_jit_compile", False)
        for module, frame in _frames()
        if module.startswith(TRACING)
    )


def _in_plain_trainer() -> bool:
    """Whether the step of Keras's trainer is not itself compiled.

    In a step that is, XLA would compile a program inside it anew whenever a
    weight changes.
    """
    frame = _trainer_frame()
    if frame is None:
        return False
    return not getattr(frame.f_locals.get("self"), "jit_compile", False)


def stateless(
    layer: keras.Layer, function: Callable[..., Any]
) -> Callable[..., Any]:
    """`function` with the layer's variables as its first argument.

    Nothing is captured: `keras.remat` gives wrong gradients for tensors that
    its function does not receive as arguments.
    """
    variables = layer.variables

    def pure(values: list[Any], *args: Any) -> Any:
        with keras.StatelessScope(zip(variables, values, strict=True)):
            return function(*args)

    return pure


def values_of(layer: keras.Layer) -> list[Any]:
    """The layer's variables as tensors that gradients flow through."""
    return [
        keras.ops.convert_to_tensor(variable.value)
        for variable in layer.variables
    ]


def _as_plain_ops(
    layer: keras.Layer, call: Callable[..., Any], arguments: dict[str, Any]
) -> Any:
    """The call, in which no inner layer is compiled by itself either."""
    outer = getattr(_plain, "inside", False)
    _plain.inside = True
    try:
        return call(layer, **arguments)
    finally:
        _plain.inside = outer


def hlo(layer: keras.Layer, *args: Any, **kwargs: Any) -> str:
    """The optimised program that XLA makes of `layer(*args, **kwargs)`.

    Args:
        layer: A layer of the package, built.
        *args: Tensors, as the layer is called with.
        **kwargs: Tensors and settings, as the layer is called with.

    Returns:
        HLO text.
    """
    call = inspect.unwrap(type(layer).call)
    bound = inspect.signature(call).bind(layer, *args, **kwargs)
    _layer, *given = bound.arguments.items()
    tensors, settings = _tensors_and_settings(dict(given))
    tensors = {k: keras.ops.convert_to_tensor(v) for k, v in tensors.items()}
    return _program_of(layer, call, settings).hlo(layer, tensors)


class _Program:
    """One XLA program: a layer's call with its settings fixed."""

    def __init__(
        self, call: Callable[..., Any], settings: dict[str, Any]
    ) -> None:
        self._call = call
        self._settings = settings
        # By signature; then by the inputs that have gradients, and how called.
        self._compiled: dict[Any, dict[Any, Any]] = {}
        self._updated: list[int] = []

    def accepts(self, signature: Signature) -> bool:
        """Whether these shapes are compiled, or may still be."""
        if signature in self._compiled:
            return True
        is_known = all(None not in shape[1:] for _name, shape, _ in signature)
        return is_known and len(self._compiled) < MAX_SIGNATURES

    def __call__(
        self,
        layer: keras.Layer,
        tensors: dict[Any, Any],
        signature: Signature,
    ) -> Any:
        import tensorflow as tf

        given = [*given_variables(layer), *tensors.values()]
        wanted = recorded(given)
        kind = wanted, tf.executing_eagerly()
        programs = self._compiled.setdefault(signature, {})
        pure = self._bound(layer, tensors)
        if kind not in programs:
            programs[kind] = compiled(pure, given, wanted)
        outputs, updates, losses = programs[kind](pure, given)
        for index, value in zip(self._updated, updates, strict=True):
            layer.variables[index].assign(value)
        for loss in losses:
            layer.add_loss(loss)
        return outputs

    def hlo(self, layer: keras.Layer, tensors: dict[str, Any]) -> str:
        """The optimised HLO text of the program for these inputs."""
        import tensorflow as tf

        given = [*values_of(layer), *tensors.values()]
        function = tf.function(self._bound(layer, tensors), jit_compile=True)
        compiler_ir = function.experimental_get_compiler_ir(*given)
        return str(compiler_ir(stage="optimized_hlo"))

    def _bound(self, layer: keras.Layer, names: Iterable[Any]) -> Any:
        """Maps the layer's variables and the named tensors to the outputs."""
        return functools.partial(self._pure, layer, list(names))

    def _pure(
        self, layer: keras.Layer, names: list[Any], *given: Any
    ) -> tuple[Any, list[Any], list[Any]]:
        variables = layer.variables
        values = given[: len(variables)]
        tensors = dict(zip(names, given[len(variables) :], strict=True))
        with keras.StatelessScope(
            zip(variables, values, strict=True), collect_losses=True
        ) as scope:
            before = [scope.get_current_value(v) for v in variables]
            outputs = self._call(layer, **_listed(tensors), **self._settings)
            after = [scope.get_current_value(v) for v in variables]
        self._updated = [
            i for i, old in enumerate(before) if after[i] is not old
        ]
        return outputs, [after[i] for i in self._updated], scope.losses


def compiled(
    function: Callable[..., Any], given: list[Any], wanted: tuple[int, ...]
) -> Callable[..., Any]:
    """`function` as a program, beside one of the gradients that are wanted.

    Called with a function that does the same, and a list of tensors like those
    given.
    """
    if wanted:
        differentiated = program_gradient.Differentiated(
            function, given, wanted
        )
        if not differentiated.reads_more:
            return differentiated
    program = program_gradient.program(function, given)
    return lambda _function, given: called(program, given)


def recorded(tensors: list[Any]) -> tuple[int, ...]:
    """The numbers of those that something records, to find their gradients.

    What is not recorded now has no gradient later, but by `tf.gradients`, which
    does not record.
    """
    from tensorflow.python.eager import record
    from tensorflow.python.ops import gradients_util

    if not record.could_possibly_record():
        return ()
    return tuple(
        number
        for number, x in enumerate(tensors)
        if gradients_util.PossibleTapeGradientTypes([x])
    )


def given_variables(layer: keras.Layer) -> list[Any]:
    """The layer's variables as a program gets them.

    What they hold, in a graph and where something records.

    A program that reads a variable returns what it holds too, for its gradient.
    To the layer's half precision it is the program that casts them.
    """
    import tensorflow as tf
    from tensorflow.python.eager import record

    with keras.src.backend.common.variables.AutocastScope(None):
        values = [variable.value for variable in layer.variables]
    if tf.executing_eagerly() and not record.could_possibly_record():
        return values
    return [tf.convert_to_tensor(value) for value in values]


def called(compiled: Any, given: list[Any]) -> Any:
    """`compiled(*given)` of a concrete function.

    Where nothing records, no argument is compared with the signature: that
    takes as long as a small program.
    """
    import tensorflow as tf
    from tensorflow.python.eager import record

    if not tf.executing_eagerly() or record.could_possibly_record():
        return compiled(*given)
    flat = [x.handle if isinstance(x, tf.Variable) else x for x in given]
    return compiled._call_flat(flat, compiled.captured_inputs)


def _signature(tensors: dict[Any, Any]) -> Signature:
    return tuple((k, tuple(t.shape), t.dtype) for k, t in tensors.items())


_shared: collections.OrderedDict[Any, _Program] = collections.OrderedDict()
_own: weakref.WeakKeyDictionary[keras.Layer, dict[Any, _Program]] = (
    weakref.WeakKeyDictionary()
)


def _program_of(
    layer: keras.Layer, call: Callable[..., Any], settings: dict[str, Any]
) -> _Program:
    fingerprint, may_share = _identity(layer)
    key = (fingerprint, call, tuple(settings.items()))
    programs = _shared if may_share else _own.setdefault(layer, {})
    if key not in programs:
        programs[key] = _Program(call, settings)
    if programs is _shared:
        _shared.move_to_end(key)
        if len(_shared) > MAX_PROGRAMS:
            _shared.popitem(last=False)
    return programs[key]


_identities: weakref.WeakKeyDictionary[keras.Layer, tuple[str, bool]] = (
    weakref.WeakKeyDictionary()
)


def forget_fingerprints() -> None:
    """Reads every layer's config again at its next call.

    So that an attribute changed after the first call takes effect. All are
    forgotten, since a layer's config holds those of its stages.
    """
    _identities.clear()


def _identity(layer: keras.Layer) -> tuple[str, bool]:
    """The layer's fingerprint, and whether equal ones may share a program."""
    known = _identities.get(layer)
    if known is None:
        known = _identities[layer] = _fingerprint(layer), _may_share(layer)
    return known


def _fingerprint(layer: keras.Layer) -> str:
    """Everything that the layer's mathematics depends on, as text."""
    config = _nameless(layer.get_config())
    return json.dumps([_qualified_name(layer), config], sort_keys=True)


def _nameless(config: Any) -> Any:
    if isinstance(config, dict):
        return {k: _nameless(v) for k, v in config.items() if k != "name"}
    return config


def _qualified_name(layer: keras.Layer) -> str:
    """Classes that inherit one `call` may have equal configs."""
    return f"{type(layer).__module__}.{type(layer).__qualname__}"


def _may_share(layer: keras.Layer) -> bool:
    """Whether the config tells all: another's class may keep a secret."""
    package = __name__.partition(".")[0]
    return all(
        type(part).__module__.startswith(package + ".")
        for part in layer._flatten_layers()
    )


def _is_compiled_here(layer: keras.Layer) -> bool:
    if keras.backend.backend() != "tensorflow":
        return False
    if not (_enabled and layer.jit_compile):
        return False
    if getattr(_plain, "inside", False):
        return False
    if keras.src.backend.common.stateless_scope.in_stateless_scope():
        return False  # Already inside a program, or only shapes are asked.
    import tensorflow as tf

    return bool(tf.executing_eagerly()) or _in_plain_trainer()


def _tensors_and_settings(
    arguments: dict[str, Any],
) -> tuple[dict[Any, Any], dict[str, Any]]:
    """Apart; those of a list by its name and their numbers."""
    tensors: dict[Any, Any] = {}
    settings: dict[str, Any] = {}
    for name, value in arguments.items():
        if isinstance(value, list):
            tensors |= {(name, i): x for i, x in enumerate(value)}
        elif hasattr(value, "dtype"):
            tensors[name] = value
        else:
            settings[name] = value
    return tensors, settings


def _listed(tensors: dict[Any, Any]) -> dict[str, Any]:
    """Lists where `_tensors_and_settings` took them apart."""
    listed: dict[str, Any] = {}
    for name, tensor in tensors.items():
        if isinstance(name, tuple):
            listed.setdefault(name[0], []).append(tensor)
        else:
            listed[name] = tensor
    return listed
