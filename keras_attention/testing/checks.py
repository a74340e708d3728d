"""What a check is, and the list of all of them."""

import contextlib
import dataclasses
import importlib.util
import warnings
from collections.abc import Callable, Iterator

import keras

from keras_attention import compilation
from keras_attention.testing.subject import Sizes, Subject
from keras_attention.testing.violation import (
    Failure,
    NotPromised,
    Violation,
)

Function = Callable[[Subject, Sizes], None]


@dataclasses.dataclass(frozen=True)
class Check:
    """One promise, and the function that tests it.

    Args:
        name: The function's name.
        promised: One sentence about the layer.
        function: Fails, however it likes, where the promise is broken.
        backends: Where the promise is given; none means everywhere.
        needs: Modules that the check imports beside the package's own.
        shrinks: Whether smaller inputs show the same failure.
    """

    name: str
    promised: str
    function: Function
    backends: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    shrinks: bool = True

    def __call__(self, subject: Subject) -> None:
        """Tests the promise.

        Raises:
            Violation: It is broken.
            NotPromised: It does not apply: no such argument, another
                backend, a package that is not installed.
        """
        self._check_that_it_applies()
        found = self._attempt(subject, subject.sizes)
        if found is None:
            return
        for sizes in subject.sizes.smaller() if self.shrinks else []:
            smaller = self._attempt(subject, sizes)
            if smaller and type(smaller.__cause__) is type(found.__cause__):
                raise smaller
        raise found

    def _check_that_it_applies(self) -> None:
        backend = keras.backend.backend()
        if self.backends and backend not in self.backends:
            raise NotPromised(f"{self.name} is not for {backend}")
        for module in self.needs:
            if importlib.util.find_spec(module) is None:
                raise NotPromised(f"{self.name} needs {module}")

    def _attempt(self, subject: Subject, sizes: Sizes) -> Violation | None:
        failure = Failure()
        with _plain_and_strict(), failure:
            self.function(subject, sizes)
        if failure.error is None:
            return None
        violation = Violation(
            self.name, self.promised, failure.seen, subject.last_call
        )
        violation.__cause__ = failure.error
        return violation


CHECKS: list[Check] = []

#: What others warn of, whatever the layer.
OTHERS_WARNINGS: list[tuple[str, type[Warning]]] = [
    # h5py reads Keras's variables in a way that NumPy 2 will drop.
    ("__array__ implementation doesn't accept a copy", DeprecationWarning),
    # tf2onnx looks whether NumPy has a type that it no longer has.
    ("In the future `np.object` will be defined", FutureWarning),
]


def promise(
    promised: str,
    backends: tuple[str, ...] = (),
    needs: tuple[str, ...] = (),
    shrinks: bool = True,
) -> Callable[[Function], Function]:
    """Adds a function to `CHECKS`."""

    def register(function: Function) -> Function:
        name = function.__name__
        CHECKS.append(Check(name, promised, function, backends, needs, shrinks))
        return function

    return register


@contextlib.contextmanager
def _plain_and_strict() -> Iterator[None]:
    """Plain ops, which are quick to run once; every warning an error."""
    policy, compiled = keras.config.dtype_policy(), compilation.is_enabled()
    compilation.set_jit_compile(False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for message, category in OTHERS_WARNINGS:
            warnings.filterwarnings("ignore", message, category)
        try:
            yield
        finally:
            keras.config.set_dtype_policy(policy)
            compilation.set_jit_compile(compiled)
