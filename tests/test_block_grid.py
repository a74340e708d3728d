"""A grid of blocks: where each is, how it is cut out and put back."""

import math

import keras
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_attention.block_grid import Grid

AXES = st.lists(
    st.tuples(st.integers(1, 7), st.integers(1, 8)), min_size=1, max_size=4
)


def _numbers(*shape):
    return np.arange(math.prod(shape), dtype="float32").reshape(shape) + 1


def _starts(grid, step):
    return [int(start) for start in grid.starts(tf.constant(step))]


def _grid_of(axes):
    """Blocks of about these sizes; leading axes are whole blocks."""
    axes, sizes = map(list, zip(*axes, strict=True))
    leading = [
        max(n for n in range(1, size + 1) if axis % n == 0)
        for axis, size in zip(axes[:-1], sizes[:-1], strict=True)
    ]
    return Grid(axes, [*leading, sizes[-1]])


def test_counts_steps_and_padded_axes():
    grid = Grid([2, 6, 7], [1, 2, 4])
    assert grid.counts == [2, 3, 2]
    assert grid.steps == 12
    assert grid.padded_axes == [2, 6, 8]
    one = Grid([2, 5], [2, 6])  # Larger than the rows is one, padded.
    assert (one.counts, one.steps, one.padded_axes) == ([1, 1], 1, [2, 6])
    none = Grid([0, 5], [1, 5])
    assert (none.counts, none.steps) == ([0, 1], 0)


def test_blocks_are_numbered_row_by_row():
    grid = Grid([2, 4, 5], [1, 2, 3])
    starts = [_starts(grid, step) for step in range(grid.steps)]
    assert starts == [
        [0, 0, 0],
        [0, 0, 3],
        [0, 2, 0],
        [0, 2, 3],
        [1, 0, 0],
        [1, 0, 3],
        [1, 2, 0],
        [1, 2, 3],
    ]


@pytest.mark.parametrize(
    ("shape", "of_rows", "of_shared"),
    [
        ((2, 3, 5, 4), [0, 1, 2, None], [0, 1, None, None]),
        ((2, 1, 5, 4), [0, None, 2, None], [0, None, None, None]),
        ((1, 3, 5, 1), [None, 1, 2, None], [None, 1, None, None]),
        ((3, 5, 4), [1, 2, None], [1, None, None]),
        ((1, 5, 4), [None, 2, None], [None, None, None]),
        ((5, 4), [2, None], [None, None]),
    ],
)
def test_places_of_missing_axes_and_of_those_of_size_one(
    shape, of_rows, of_shared
):
    grid = Grid([2, 3, 5], [1, 2, 3])
    x = tf.constant(_numbers(*shape))
    assert grid.places(x, has_rows=True) == of_rows
    assert grid.places(x, has_rows=False) == of_shared


def test_places_where_a_size_is_unknown():
    grid = Grid([2, 3, 5], [1, 2, 3])
    x = keras.KerasTensor((None, 3, None, 4))
    assert grid.places(x, has_rows=True) == [0, 1, 2, None]


def test_padded_with_zeros_up_to_whole_blocks_and_cropped():
    grid = Grid([2, 4, 5], [2, 2, 3])
    x = _numbers(2, 4, 5, 4)
    padded = grid.padded(tf.constant(x), [0, 1, 2, None])
    expected = np.zeros((2, 4, 6, 4))
    expected[:, :, :5] = x
    np.testing.assert_array_equal(padded, expected)
    np.testing.assert_array_equal(grid.cropped(padded), x)
    keys = tf.constant(_numbers(1, 4, 9, 2))  # Its length is not cut.
    assert grid.padded(keys, [None, 1, None, None]) is keys
    mask = grid.padded(tf.ones((5, 1), "bool"), [2, None])
    np.testing.assert_array_equal(mask[:, 0], [True] * 5 + [False])


def test_whole_blocks_are_not_copied():
    grid = Grid([2, 4], [1, 2])
    x = tf.constant(_numbers(2, 4, 3))
    assert grid.padded(x, [0, 1, None]) is x


def test_cut_takes_the_block_and_put_changes_no_other():
    grid = Grid([2, 4], [1, 2])
    x = _numbers(2, 4, 3)
    places = [0, 1, None]
    starts = grid.starts(tf.constant(3))
    block = grid.cut(tf.constant(x), places, starts)
    np.testing.assert_array_equal(block, x[1:, 2:])
    changed = grid.put(tf.constant(x), places, starts, -block)
    expected = x.copy()
    expected[1:, 2:] *= -1
    np.testing.assert_array_equal(changed, expected)


def test_what_no_axis_cuts_stays_whole():
    grid = Grid([2, 4], [1, 2])
    x = tf.constant(_numbers(1, 9, 3))
    starts = grid.starts(tf.constant(3))
    assert grid.cut(x, [None] * 3, starts) is x
    assert grid.put(x, [None] * 3, starts, 2 * x) is not x
    np.testing.assert_array_equal(grid.put(x, [None] * 3, starts, 2 * x), 2 * x)
    by_example = tf.constant(_numbers(2, 9, 3))
    np.testing.assert_array_equal(
        grid.cut(by_example, [0, None, None], starts), by_example[1:]
    )


@settings(max_examples=40, deadline=None, derandomize=True)
@given(axes=AXES, width=st.integers(1, 3))
def test_all_blocks_put_back_give_the_array(axes, width):
    grid = _grid_of(axes)
    axes, sizes = grid.axes, grid.sizes
    every = [*range(len(axes)), None]
    x = tf.constant(_numbers(*axes, width))
    padded = grid.padded(x, every)
    result, seen = tf.zeros_like(padded), set()
    for step in range(grid.steps):
        starts = grid.starts(tf.constant(step))
        seen.add(tuple(map(int, starts)))
        block = grid.cut(padded, every, starts)
        assert block.shape == (*sizes, width)
        result = grid.put(result, every, starts, block)
    assert len(seen) == grid.steps == math.prod(grid.counts)
    np.testing.assert_array_equal(grid.cropped(result), x)


@settings(max_examples=20, deadline=None, derandomize=True)
@given(axes=AXES, data=st.data())
def test_a_block_of_a_narrower_tensor_is_that_of_its_broadcast(axes, data):
    grid = _grid_of(axes)
    axes = grid.axes
    missing = data.draw(st.integers(0, len(axes) - 1))
    leading = [
        data.draw(st.sampled_from([1, size])) for size in axes[missing:-1]
    ]
    x = tf.constant(_numbers(*leading, axes[-1], 2))
    places = grid.places(x, has_rows=True)
    every = [*range(len(axes)), None]
    whole = grid.padded(tf.broadcast_to(x, (*axes, 2)), every)
    padded = grid.padded(x, places)
    for step in range(grid.steps):
        starts = grid.starts(tf.constant(step))
        block = grid.cut(padded, places, starts)
        expected = grid.cut(whole, every, starts).numpy()
        actual = np.broadcast_to(block, expected.shape)
        inside = expected != 0  # The rest is padding.
        np.testing.assert_array_equal(actual[inside], expected[inside])


def test_sizes_that_are_known_only_when_it_runs():
    @tf.function(input_signature=[tf.TensorSpec((None, None, 3))])
    def doubled(x):
        shape = tf.shape(x)
        grid = Grid([shape[0], shape[1]], [1, tf.maximum(shape[1] // 2, 1)])
        every = [0, 1, None]
        padded = grid.padded(x, every)
        result = tf.zeros_like(padded)
        for step in tf.range(grid.steps):
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[(result, tf.TensorShape((None, None, 3)))]
            )
            starts = grid.starts(step)
            block = grid.cut(padded, every, starts)
            assert block.shape.as_list() == [1, None, 3]
            result = grid.put(result, every, starts, 2 * block)
        cropped = grid.cropped(result)
        assert cropped.shape.as_list() == [None, None, 3]
        return cropped

    for shape in ((1, 1, 3), (2, 5, 3), (3, 4, 3)):
        x = _numbers(*shape)
        np.testing.assert_array_equal(doubled(tf.constant(x)), 2 * x)


def test_a_loop_keeps_what_is_known_of_the_shape():
    """Else `matmul` and scores with weights would not know their sizes."""
    grid = Grid([4, 6], [2, 3])
    every = [0, 1, None]

    @tf.function(input_signature=[tf.TensorSpec((None, 6, 3))])
    def shapes(x):
        starts = grid.starts(tf.constant(0))
        block = grid.cut(x, every, starts)
        assert block.shape.as_list() == [2, 3, 3]
        result = grid.put(x, every, starts, block)
        assert result.shape.as_list() == [None, 6, 3]
        assert grid.cropped(result).shape.as_list() == [4, 6, 3]
        shared = grid.cut(x, [0, None, None], starts)
        assert shared.shape.as_list() == [2, 6, 3]
        return block

    shapes(tf.zeros((4, 6, 3)))
