"""How every public class is saved: by name, and by its `__init__` arguments."""

import inspect
from typing import Any, Self, TypeVar

import keras

#: The package under whose name every class is registered.
PACKAGE = "keras_attention"

#: Every public layer, in definition order. The tests iterate over this list.
EXPORTED: list[type["SerializableLayer"]] = []

#: Every public loss and metric, likewise.
MEASURES: list[type["Serializable"]] = []

#: Every public part of a decoder that is not called as a layer is, likewise.
PARTS: list[type["Serializable"]] = []

Class = TypeVar("Class", bound="Serializable")


def export(cls: type[Class]) -> type[Class]:
    """Makes `cls` loadable from a `.keras` file and visible to the tests."""
    if issubclass(cls, SerializableLayer):
        EXPORTED.append(cls)
    else:
        MEASURES.append(cls)
    keras.saving.register_keras_serializable(PACKAGE)(cls)
    return cls


def export_part(cls: type[Class]) -> type[Class]:
    """As `export`, for what is not called with tensors alone."""
    PARTS.append(cls)
    keras.saving.register_keras_serializable(PACKAGE)(cls)
    return cls


class Serializable:
    """Mixed in before a Keras class: the config is read from the attributes.

    The one rule: keep each `__init__` argument in an attribute of its name.
    """

    @classmethod
    def init_arguments(cls) -> list[str]:
        """The names in `__init__`, from the final class up to this one."""
        names: list[str] = []
        for base in cls.__mro__:
            if base is Serializable:
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
        inherited: dict[str, Any] = super().get_config()
        return {**inherited, **arguments}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """The object that `get_config` described."""
        deserialize = keras.saving.deserialize_keras_object
        return cls(
            **{name: deserialize(value) for name, value in config.items()}
        )


class SerializableLayer(Serializable, keras.Layer):
    """A layer whose config is read back from its attributes."""
