"""How every public class is saved: by name, and by its `__init__` arguments."""

import inspect
from typing import Any, TypeVar

import keras

#: The package under whose name every class is registered.
PACKAGE = "keras_attention"

#: Every public class, in definition order. The tests iterate over this list.
EXPORTED: list[type["SerializableLayer"]] = []

LayerClass = TypeVar("LayerClass", bound="SerializableLayer")


def export(cls: type[LayerClass]) -> type[LayerClass]:
    """Makes `cls` loadable from a `.keras` file and visible to the tests."""
    EXPORTED.append(cls)
    keras.saving.register_keras_serializable(PACKAGE)(cls)
    return cls


class SerializableLayer(keras.Layer):
    """A layer whose config is read back from its attributes.

    The one rule: keep each `__init__` argument in an attribute of its name.
    """

    @classmethod
    def init_arguments(cls) -> list[str]:
        """The names in `__init__`, from the final class up to this one."""
        names: list[str] = []
        for base in cls.__mro__:
            if base is SerializableLayer:
                break
            if "__init__" in vars(base):
                _self, *arguments = inspect.signature(
                    vars(base)["__init__"]
                ).parameters.values()
                names += [a.name for a in arguments if a.kind != a.VAR_KEYWORD]
        return names

    def get_config(self) -> dict[str, Any]:
        """Every `__init__` argument, as JSON can hold it."""
        serialize = keras.saving.serialize_keras_object
        arguments = {
            name: serialize(getattr(self, name))
            for name in self.init_arguments()
        }
        return {**super().get_config(), **arguments}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> "SerializableLayer":
        """The layer that `get_config` described."""
        deserialize = keras.saving.deserialize_keras_object
        return cls(
            **{name: deserialize(value) for name, value in config.items()}
        )
