import numpy as np
import pytest

import keras_attention as ka
from tests.worked import assert_worked, assign, batch, det

H = batch(det((4, 3), 0.2, 1.0))


def _embed(mask=None, penalty=1.0):
    embed = ka.SelfAttentiveEmbedding(hops=2, units=2, penalty=penalty)
    embed.build(H.shape)
    assign(embed, W=det((2, 3), 0.1, 1.0).T, V=det((2, 2), 0.6, 2.0).T)
    M, A = embed(H, mask=mask, return_attention_scores=True)
    return M, A, embed.losses


def test_all_steps():
    M, A, (penalty,) = _embed()
    alpha = [
        [0.264173, 0.562823, 0.155926, 0.017077],
        [0.036374, 0.028952, 0.147921, 0.786753],
    ]
    assert_worked(A, [alpha])
    expected = [[-0.54149, 0.532619, 0.404241], [0.023117, -0.797385, 0.182361]]
    assert_worked(M, [expected])
    assert_worked(penalty, 0.481952)  # Not 0.694227, the unsquared norm.


def test_masked():
    M, A, (penalty,) = _embed(np.array([[True, True, True, False]]), 0.3)
    alpha = [
        [0.268763, 0.572602, 0.158635, 0],
        [0.170573, 0.135766, 0.693661, 0],
    ]
    assert_worked(A, [alpha])
    expected = [
        [-0.554485, 0.559192, 0.410388],
        [-0.653337, -0.061293, 0.669131],
    ]
    assert_worked(M, [expected])
    assert_worked(penalty, 0.3 * 0.661602)


def test_no_penalty_no_loss():
    assert _embed(penalty=0.0)[2] == []


@pytest.mark.parametrize("copies", [1, 3])
def test_penalty_is_the_squared_norm_and_independent_of_the_batch(copies):
    """Two hops on the same step: |A A^T - I|^2 = 2, a root of it is wrong."""
    x = np.tile(np.eye(3, dtype="float32"), (copies, 1, 1))
    embed = ka.SelfAttentiveEmbedding(hops=2, units=1, penalty=1.0)
    embed.build(x.shape)
    assign(embed, W=[[9], [-9], [-9]], V=[[99, 99]])
    _M, A = embed(x, return_attention_scores=True)
    assert_worked(A[0], [[1, 0, 0], [1, 0, 0]])
    assert_worked(embed.losses[0], 2.0)


def test_sequences_without_steps_do_not_count_in_the_penalty():
    x = np.concatenate([H, H])
    embed = ka.SelfAttentiveEmbedding(hops=2, units=2, penalty=1.0)
    embed.build(x.shape)
    assign(embed, W=det((2, 3), 0.1, 1.0).T, V=det((2, 2), 0.6, 2.0).T)
    M = embed(x, mask=np.array([[True] * 4, [False] * 4]))
    assert_worked(embed.losses[0], 0.481952)
    assert_worked(M[1], np.zeros((2, 3)))


@pytest.mark.parametrize("name", ["hops", "units"])
def test_sizes_must_be_positive_integers(name):
    sizes = {"hops": 2, "units": 2, name: 0}
    expected = f"`{name}` must be a positive integer. Received: {name}=0"
    with pytest.raises(ValueError, match=expected):
        ka.SelfAttentiveEmbedding(**sizes)


def test_penalty_must_not_be_negative():
    expected = "`penalty` must be a finite number of at least 0"
    with pytest.raises(ValueError, match=expected):
        ka.SelfAttentiveEmbedding(2, 2, penalty=-1)
