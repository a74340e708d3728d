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
"""

import collections
import json
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any

import keras

#: How many input signatures one program compiles before it stops.
MAX_SIGNATURES = 32

#: How many programs are kept for sharing; the least recently used goes first.
MAX_PROGRAMS = 128

#: The frames by which Keras's trainer is recognised. A test pins the name.
TRAINER = "keras.src.backend.tensorflow.trainer"
TRACING = "tensorflow.python.eager.polymorphic_function"

_enabled = True


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
        return call(layer, **arguments)
    tensors = {k: v for k, v in arguments.items() if _is_tensor(v)}
    settings = {k: v for k, v in arguments.items() if k not in tensors}
    if not _program_of(layer, call, settings).accepts(tensors):
        return call(layer, **arguments)
    return _program_of(layer, call, settings)(layer, tensors)


def in_trainer() -> bool:
    """Whether Keras's trainer traces this call into its own step."""
    frame = sys._getframe(1)
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module == TRAINER:
            return True
        if module.startswith(TRACING):
            return False
        frame = frame.f_back  # type: ignore[assignment]
    return False


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


class _Program:
    """One XLA program: a layer's call with its settings fixed."""

    def __init__(
        self, call: Callable[..., Any], settings: dict[str, Any]
    ) -> None:
        import tensorflow as tf

        self._call = call
        self._settings = settings
        self._signatures: set[Any] = set()
        self._updated: list[int] = []
        self._tracing = threading.local()  # Holds no layer between calls.
        self._compiled = tf.function(
            self._pure, jit_compile=True, autograph=False
        )

    def accepts(self, tensors: dict[str, Any]) -> bool:
        """Whether these shapes are compiled, or may still be."""
        signature = tuple((k, t.shape, t.dtype) for k, t in tensors.items())
        if any(None in tuple(t.shape)[1:] for t in tensors.values()):
            return False
        if len(self._signatures) < MAX_SIGNATURES:
            self._signatures.add(signature)
        return signature in self._signatures

    def __call__(self, layer: keras.Layer, tensors: dict[str, Any]) -> Any:
        self._tracing.layer = layer
        try:
            outputs, updates, losses = self._compiled(values_of(layer), tensors)
        finally:
            del self._tracing.layer
        variables = layer.variables
        for index, value in zip(self._updated, updates, strict=True):
            variables[index].assign(value)
        for loss in losses:
            layer.add_loss(loss)
        return outputs

    def hlo(self, layer: keras.Layer, tensors: dict[str, Any]) -> str:
        """The optimised HLO text of the program for these inputs."""
        self._tracing.layer = layer
        compiler_ir = self._compiled.experimental_get_compiler_ir(
            values_of(layer), tensors
        )
        return str(compiler_ir(stage="optimized_hlo"))

    def _pure(self, values: list[Any], tensors: dict[str, Any]) -> Any:
        layer = self._tracing.layer
        variables = layer.variables
        with keras.StatelessScope(
            zip(variables, values, strict=True), collect_losses=True
        ) as scope:
            before = [scope.get_current_value(v) for v in variables]
            outputs = self._call(layer, **tensors, **self._settings)
            after = [scope.get_current_value(v) for v in variables]
        self._updated = [
            i for i, old in enumerate(before) if after[i] is not old
        ]
        return outputs, [after[i] for i in self._updated], scope.losses


_shared: collections.OrderedDict[Any, _Program] = collections.OrderedDict()
_own: weakref.WeakKeyDictionary[keras.Layer, dict[Any, _Program]] = (
    weakref.WeakKeyDictionary()
)


def _program_of(
    layer: keras.Layer, call: Callable[..., Any], settings: dict[str, Any]
) -> _Program:
    key = (_fingerprint(layer), call, tuple(settings.items()))
    programs = _shared if _may_share(layer) else _own.setdefault(layer, {})
    if key not in programs:
        programs[key] = _Program(call, settings)
    if programs is _shared:
        _shared.move_to_end(key)
        if len(_shared) > MAX_PROGRAMS:
            _shared.popitem(last=False)
    return programs[key]


def _fingerprint(layer: keras.Layer) -> str:
    """Everything that the layer's mathematics depends on, as text.

    It is read again at each call, so that an attribute changed after the
    first call takes effect.
    """
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
    if keras.src.backend.common.stateless_scope.in_stateless_scope():
        return False  # Already inside a program, or only shapes are asked.
    import tensorflow as tf

    return bool(tf.executing_eagerly()) or in_trainer()


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "shape") and hasattr(value, "dtype")
