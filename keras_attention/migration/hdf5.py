"""Weights out of the files of Keras 2 and Keras 3."""

import io
import os
import zipfile
from collections.abc import Iterator

import h5py
import numpy as np

from keras_attention.migration.weights import Arrays

#: What a `.keras` file keeps its weights in.
MEMBER = "model.weights.h5"

#: Groups that are not of the model.
BESIDE = ("optimizer", "metrics")

#: Groups that hold others, under names that all models share.
CONTAINERS = ("layers", "vars")


def read(path: str | os.PathLike[str]) -> Arrays:
    """The weights of a model by name, those of a layer in its own order.

    A name begins with the layer's: its `name` in a `.h5` file, its class in
    words, with a number if it is not the first, in a `.weights.h5` or `.keras`
    file. The layer of a model within the model begins with that model's. What
    optimizers and metrics keep is left out.

    Args:
        path: A file that `Model.save` or `Model.save_weights` wrote: `.h5`,
            `.weights.h5` or `.keras`.

    Raises:
        ValueError: It is none of these.
    """
    with h5py.File(_hdf5(path)) as file:
        root = file.get("model_weights", file)
        is_legacy = any(x.startswith("layer_names") for x in root.attrs)
        named = _by_layer(root) if is_legacy else _by_place(root)
        return {name: np.asarray(weight) for name, weight in named}


def _hdf5(path: str | os.PathLike[str]) -> str | io.BytesIO:
    if not os.path.exists(path):
        raise FileNotFoundError(f"There is no file `path`={os.fspath(path)!r}")
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            return io.BytesIO(archive.read(MEMBER))
    if not os.path.isfile(path) or not h5py.is_hdf5(path):
        raise ValueError(
            "`path` must be a `.h5`, `.weights.h5` or `.keras` file of Keras. "
            f"Received: path={os.fspath(path)!r}"
        )
    return os.fspath(path)


def _by_layer(root: h5py.Group) -> Iterator[tuple[str, h5py.Dataset]]:
    """Of Keras 2, and of a `.h5` file of Keras 3."""
    for layer in _listed(root, "layer_names"):
        for weight in _listed(root[layer], "weight_names"):
            yield f"{layer}/{weight.removesuffix(':0')}", root[layer][weight]


def _listed(group: h5py.Group, name: str) -> list[str]:
    """A list of words; Keras cuts a long one in numbered attributes."""
    numbered = [f"{name}{i}" for i in range(len(group.attrs))]
    found = [group.attrs[x] for x in (name, *numbered) if x in group.attrs]
    words = [word for piece in found for word in piece]
    return [x.decode() if isinstance(x, bytes) else str(x) for x in words]


def _by_place(root: h5py.Group) -> Iterator[tuple[str, h5py.Dataset]]:
    """Of Keras 3, and of Keras 2.12 on, unless `_by_layer`."""
    names: list[str] = []
    root.visit(names.append)
    # Weights are numbered: 10 is longer than 2, and comes behind it.
    for name in sorted(names, key=lambda x: (len(x), x)):
        parts = name.split("/")
        if isinstance(root[name], h5py.Dataset) and parts[0] not in BESIDE:
            kept = [part for part in parts if part not in CONTAINERS]
            yield "/".join(kept), root[name]
