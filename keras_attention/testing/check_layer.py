"""Every check on one layer."""

from collections.abc import Callable, Iterable, Mapping

import keras

from keras_attention.testing.checks import CHECKS, Check
from keras_attention.testing.subject import Sizes, Subject
from keras_attention.testing.violation import NotPromised, Violation


def check_layer(
    build: Callable[[], keras.Layer],
    *,
    sizes: Sizes | None = None,
    exceptions: Mapping[str, str] | None = None,
    checks: Iterable[str] | None = None,
) -> dict[str, str]:
    """Checks that a layer keeps the promises that this package's layers keep.

    How the layer is called is read from its `call`: `query, value` with
    `key`, masks and flags where it takes them, or one sequence. A `Score`,
    `Alignment` or `Read` is put into an `Attention`. A promise about an
    argument that the layer does not take is not asked for.

    Args:
        build: Returns a new layer each time; best with every argument off
            its default. The class must be registered with Keras, in a module
            that a fresh process can import.
        sizes: Of the inputs. By default all differ, or as few are equal as
            the layer asks for.
        exceptions: Names of checks that the layer is known to fail, each with
            the reason. It must fail them.
        checks: Names of the checks to run. By default all.

    Returns:
        What became of each check, by name: "kept", the reason why it does not
        apply, or the reason of the exception.

    Raises:
        Violation: The layer breaks a promise; or it keeps one that
            `exceptions` says it breaks.
        ValueError: `checks` or `exceptions` names no check.

    Example:
        >>> check_layer(lambda: BahdanauAttention(units=4, dropout=0.5))
    """
    exceptions = dict(exceptions or {})
    names = [check.name for check in CHECKS]
    chosen = list(names if checks is None else checks)
    for name in [*chosen, *exceptions]:
        if name not in names:
            raise ValueError(
                f"`checks` and `exceptions` must name checks, of {names}. "
                f"Received: {name!r}"
            )
    subject = Subject(build, sizes)
    return {
        check.name: _outcome(check, subject, exceptions.get(check.name))
        for check in CHECKS
        if check.name in chosen
    }


def _outcome(check: Check, subject: Subject, reason: str | None) -> str:
    try:
        check(subject)
    except NotPromised as why:
        return str(why)
    except Violation:
        if reason is None:
            raise
        return reason
    if reason is None:
        return "kept"
    raise Violation(
        check.name,
        f"to be broken, since {reason}",
        "it is kept: take the exception away",
        {},
    )
