"""Files of Keras, written by hand where Keras writes such only by chance."""

import h5py
import keras
import numpy as np
import pytest

from keras_attention.migration import hdf5


def _write(group, **datasets):
    for name, value in datasets.items():
        group[name] = np.float32(value)


def test_the_layer_of_a_model_in_a_model(tmp_path):
    inner = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    outer = keras.Sequential([keras.Input((2,)), inner])
    path = tmp_path / "model.weights.h5"
    outer.save_weights(path)
    arrays = hdf5.read(path)
    assert list(arrays) == ["sequential/dense/0", "sequential/dense/1"]
    np.testing.assert_array_equal(
        arrays["sequential/dense/0"], inner.layers[0].kernel
    )


def test_the_weights_of_a_layer_in_order(tmp_path):
    path = tmp_path / "model.weights.h5"
    with h5py.File(path, "w") as file:
        weights = file.create_group("layers/dense/vars")
        _write(weights, **{str(i): i for i in range(12)})
    arrays = hdf5.read(path)
    assert list(arrays.values()) == list(range(12))


def test_what_optimizers_and_metrics_keep_is_left_out(tmp_path):
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    model.compile("adam", "mse", metrics=["mae"])
    model.fit(np.ones((1, 2)), np.ones((1, 1)), verbose=0)
    for name in ("model.h5", "model.keras"):
        model.save(tmp_path / name)
        assert len(hdf5.read(tmp_path / name)) == 2


def test_lists_of_bytes_that_are_cut_in_pieces(tmp_path):
    path = tmp_path / "model.h5"
    with h5py.File(path, "w") as file:
        file.attrs["layer_names0"] = [b"one"]
        file.attrs["layer_names1"] = [b"two"]
        for layer in ("one", "two"):
            _write(file.create_group(layer), **{"b:0": 1, "a:0": 2})
            file[layer].attrs["weight_names0"] = [b"b:0"]
            file[layer].attrs["weight_names1"] = [b"a:0"]
    arrays = hdf5.read(path)
    assert list(arrays) == ["one/b", "one/a", "two/b", "two/a"]
    assert arrays["two/a"] == 2


def test_a_file_of_another_kind(tmp_path):
    path = tmp_path / "model.ckpt"
    path.write_text("no weights")
    with pytest.raises(ValueError, match="`path` must be .*model.ckpt"):
        hdf5.read(path)
    with pytest.raises(ValueError, match="`path` must be "):
        hdf5.read(tmp_path)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="`path`=.*nowhere.h5"):
        hdf5.read(tmp_path / "nowhere.h5")
