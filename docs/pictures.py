"""Draws the picture of every mechanism: `python docs/pictures.py [NAME ...]`.

Each function draws one picture, with the package itself, into
`docs/pictures/<name of the function>.png`.
"""

import argparse
from collections.abc import Callable
from pathlib import Path

import keras
import matplotlib
import numpy as np
from keras import ops

import keras_attention as ka

matplotlib.use("Agg")
from matplotlib import pyplot as plt  # noqa: E402  The backend comes first.
from matplotlib.ticker import MaxNLocator  # noqa: E402

FOLDER = Path(__file__).parent / "pictures"
DRAWINGS: dict[str, Callable[[], None]] = {}


def drawing(draw: Callable[[], None]) -> Callable[[], None]:
    DRAWINGS[draw.__name__] = draw
    return draw


@drawing
def dot_score() -> None:
    sizes = [1, 2, 4, 8, 16, 32, 64, 128, 256]
    _lines(
        sizes,
        {
            "dot": [_scores(ka.DotScore(), n).std() for n in sizes],
            "scaled dot": [
                _scores(ka.ScaledDotScore(), n).std() for n in sizes
            ],
        },
        "size of the vectors",
        "spread of the scores",
    )
    plt.xscale("log", base=2)


@drawing
def scaled_dot_score() -> None:
    sizes = [1, 2, 4, 8, 16, 32, 64, 128, 256]
    align = ka.SoftmaxAlignment()

    def largest(score: ka.DotScore, size: int) -> float:
        weights = align(_scores(score, size))
        return float(_numpy(weights).max(axis=-1).mean())

    _lines(
        sizes,
        {
            "dot": [largest(ka.DotScore(), n) for n in sizes],
            "scaled dot": [largest(ka.ScaledDotScore(), n) for n in sizes],
        },
        "size of the vectors",
        "largest of 16 weights",
    )
    plt.xscale("log", base=2)
    plt.ylim(0, 1)


@drawing
def bilinear_score() -> None:
    query, key = _normal((1, 8, 4)), _normal((1, 12, 6))
    scores = [ka.BilinearScore()(query, key) for _ in range(2)]
    _heatmaps(
        {"one W": scores[0][0], "another W": scores[1][0]}, colours="RdBu_r"
    )


@drawing
def additive_score() -> None:
    axis = np.linspace(-4, 4, 81, dtype="float32").reshape(1, -1, 1)
    score = ka.AdditiveScore(8, use_bias=True)
    score.build(axis.shape, axis.shape)
    score.set_weights([_normal(w.shape) for w in score.get_weights()])
    _heatmaps(
        {"": score(axis, axis)[0]},
        axes=("key", "query"),
        colours="RdBu_r",
        extent=(-4, 4, 4, -4),
    )


@drawing
def normalized_additive_score() -> None:
    query, key = _normal((1, 8, 4)), _normal((1, 12, 4))
    factors = np.linspace(0.25, 4, 16)

    def spreads(score: ka.AdditiveScore, place: int) -> list[float]:
        score.build(query.shape, key.shape)
        weights = score.get_weights()
        found = []
        for factor in factors:
            scaled = list(weights)
            scaled[place] = factor * weights[place]
            score.set_weights(scaled)
            found.append(float(_numpy(score(query, key)).std()))
        return found

    v = [w.name for w in _built(ka.AdditiveScore(16), query, key)].index("v")
    _lines(
        factors,
        {
            "additive": spreads(ka.AdditiveScore(16), v),
            "normalised": spreads(ka.NormalizedAdditiveScore(16), v),
        },
        "factor on v",
        "spread of the scores",
    )
    plt.ylim(bottom=0)


@drawing
def cosine_score() -> None:
    angle = np.linspace(-np.pi, np.pi, 24, endpoint=False)
    key = np.stack([np.cos(angle), np.sin(angle)], -1)[None].astype("float32")
    query = np.array([[[1.0, 0.0]]], "float32")
    align = ka.SoftmaxAlignment()
    _lines(
        np.degrees(angle),
        {
            f"beta = {beta}": _numpy(
                align(ka.CosineScore(scale=beta)(query, key))
            )[0, 0]
            for beta in (1, 4, 16)
        },
        "angle between query and key, in degrees",
        "weight",
    )


@drawing
def location_score() -> None:
    query = _positions(8)
    attend = ka.Attention(score=ka.LocationScore(length=16))
    maps = {}
    for length in (16, 10):
        value = _normal((1, length, 4))
        _, weights = attend(query, value, return_attention_scores=True)
        maps[f"{length} places"] = weights[0]
    _heatmaps(maps)


@drawing
def softmax_alignment() -> None:
    _three_weights(ka.SoftmaxAlignment())


@drawing
def sparsemax_alignment() -> None:
    _three_weights(ka.SparsemaxAlignment())


@drawing
def sigmoid_alignment() -> None:
    _three_weights(ka.SigmoidAlignment())


@drawing
def weighted_sum_read() -> None:
    corners = np.array([[[0, 0], [4, 0], [2, 3]]], "float32")
    scores = 1.5 * _normal((1, 300, 3))
    read = ka.WeightedSumRead()
    _figure(7, 3)
    for place, align in enumerate(
        [ka.SoftmaxAlignment(), ka.SparsemaxAlignment()], 1
    ):
        axes = plt.subplot(1, 2, place)
        context = _numpy(read(align(scores), corners))[0]
        axes.scatter(*context.T, s=6, alpha=0.6, label="contexts")
        axes.scatter(*corners[0].T, s=50, color="C3", label="values")
        axes.set_title(type(align).__name__, fontsize=9)
        axes.axis("off")
    plt.legend(fontsize=8)


@drawing
def attention() -> None:
    query, key = _normal((1, 8, 4)), _normal((1, 12, 4))
    maps = {}
    for name in ("softmax", "sparsemax", "sigmoid"):
        attend = ka.Attention(score="dot", alignment=name)
        _, weights = attend(query, key, return_attention_scores=True)
        maps[name] = weights[0]
    _heatmaps(maps)


@drawing
def luong_attention() -> None:
    states = _positions(12)
    maps = {}
    for name in ("dot", "general", "concat", "location"):
        attend = ka.LuongAttention(name)
        _, weights = attend(states, states, return_attention_scores=True)
        maps[name] = weights[0]
    _heatmaps(maps)


@drawing
def bahdanau_attention() -> None:
    steps = 10
    place, values = _positions(steps), _normal((64, steps, 6))
    places = np.repeat(place, 64, axis=0)
    attend = ka.BahdanauAttention(units=32)

    def weights_now() -> np.ndarray:
        _, weights = attend(
            place, values[:1], place, return_attention_scores=True
        )
        return weights[0]

    before = weights_now()
    model_inputs = [keras.Input(x.shape[1:]) for x in (places, values)]
    query, value = model_inputs
    model = keras.Model(model_inputs, attend(query, value, query))
    model.compile(keras.optimizers.Adam(0.03), "mse")
    model.fit(
        [places, values], values[:, ::-1], batch_size=64, epochs=300, verbose=0
    )
    _heatmaps({"before": before, "after": weights_now()})


@drawing
def local_monotonic_attention() -> None:
    attend = ka.LocalMonotonicAttention(radius=3)
    _, weights = attend(
        0.7 * _normal((1, 20, 4)),
        _normal((1, 16, 4)),
        return_attention_scores=True,
    )
    _heatmaps({"": weights[0]})


@drawing
def local_predictive_attention() -> None:
    queries, keys = 20, 24
    attend = ka.LocalPredictiveAttention(radius=4, units=1)
    query = np.linspace(-1, 1, queries, dtype="float32").reshape(1, -1, 1)
    attend.build(query.shape, (1, keys, 4))
    attend.W.assign([[1.2]])
    attend.v.assign([[2.5]])
    _, weights = attend(
        query, _normal((1, keys, 4)), return_attention_scores=True
    )
    _heatmaps({"": weights[0]})
    place = keys / (1 + np.exp(-2.5 * np.tanh(1.2 * query.ravel())))
    plt.plot(place, np.arange(queries), ".", color="C3")


@drawing
def key_value_attention() -> None:
    attend = ka.KeyValueAttention(window=5, parts=3)
    _, weights = attend(_normal((1, 16, 24)), return_attention_scores=True)
    _heatmaps({"": weights[0]}, axes=("step looked at", "step"))


@drawing
def coverage_attention() -> None:
    query = np.zeros((1, 8, 1), "float32")
    key = np.array([3, 6, 1, 0, 7, 2, 5, 4], "float32").reshape(1, -1, 1)
    attend = ka.CoverageAttention(units=1)
    attend.build(query.shape, key.shape)
    attend.score.U.assign([[0.15]])
    attend.score.v.assign([[40.0]])
    maps = {}
    for w in (0.0, -1.0):
        attend.w.assign([[w]])
        _, weights = attend(query, key, return_attention_scores=True)
        maps[f"w = {w:.0f}"] = weights[0]
    covered = np.cumsum(weights[0], axis=0)
    _heatmaps({**maps, "coverage after the query": covered})


@drawing
def intra_temporal_attention() -> None:
    query, key = _normal((1, 10, 4)), _normal((1, 12, 4))
    query[..., 0], key[..., 0] = 1.0, 0.0
    key[0, [3, 8], 0] = 4.0
    _two_weights(query, key, ka.IntraTemporalAttention("dot"))


@drawing
def monotonic_attention() -> None:
    query, key = 2 * _normal((1, 12, 4)), _normal((1, 20, 4))
    maps = {}
    for mode in ("soft", "hard"):
        attend = ka.MonotonicAttention("dot", mode, initial_bias=-2.0)
        _, weights = attend(query, key, return_attention_scores=True)
        maps[mode] = weights[0]
    _heatmaps(maps)


@drawing
def forward_attention() -> None:
    query, key = _normal((1, 16, 4)), _normal((1, 12, 4))
    _two_weights(query, key, ka.ForwardAttention("dot"))


@drawing
def forward_mask_attention() -> None:
    key = _positions(12)
    query = key[:, [0, 2, 1, 3, 5, 4, 2, 6, 8, 7, 11]]
    weights = _two_weights(query, key, ka.ForwardMaskAttention("dot"))
    favourites = weights.argmax(axis=-1)
    plt.sca(plt.gcf().axes[1])
    plt.plot(favourites, np.arange(len(favourites)), ".", color="C3")


@drawing
def feed_forward_attention() -> None:
    inputs = _normal((1, 30, 4)) * 0.3
    inputs[0, :, 0] = 0
    inputs[0, [8, 21], 0] = 3.0
    pool = ka.FeedForwardAttention()
    pool.build(inputs.shape)
    pool.w.assign([[1.0], [0.5], [0.5], [0.5]])
    _, weights = pool(inputs, return_attention_scores=True)
    weights = _numpy(weights)[0]
    _figure(6, 2.6)
    plt.bar(np.arange(30), weights, color="C0")
    plt.axhline(weights.min() * np.e**2, color="C3", ls="--", lw=1)
    plt.xlabel("step")
    plt.ylabel("weight")


@drawing
def self_attentive_embedding() -> None:
    inputs = _positions(16)
    embed = ka.SelfAttentiveEmbedding(hops=4, units=16, penalty=1.0)
    _, before = embed(inputs, return_attention_scores=True)
    source = keras.Input(inputs.shape[1:])
    model = keras.Model(source, embed(source))
    model.compile(keras.optimizers.Adam(0.05), loss=None)
    model.fit(inputs, epochs=200, verbose=0)
    _, after = embed(inputs, return_attention_scores=True)
    _heatmaps({"before": before[0], "after": after[0]}, axes=("step", "view"))


@drawing
def multi_head_attention() -> None:
    x = 2 * _normal((1, 12, 16))
    attend = ka.MultiHeadAttention(num_heads=4, key_dim=8)
    _, weights = attend(
        x, x, use_causal_mask=True, return_attention_scores=True
    )
    _heatmaps({f"head {h}": weights[0, h] for h in range(4)})


@drawing
def sequence_squeeze_excitation() -> None:
    squeeze = ka.SequenceSqueezeExcitation()
    _, scales = squeeze(3 * _normal((4, 7, 16)), return_attention_scores=True)
    _heatmaps({"": scales}, axes=("feature", "sequence"))


@drawing
def key_value_memory() -> None:
    keys = 2.5 * np.eye(8, dtype="float32")
    values = _normal((8, 8)) * 0.1
    values[2] = keys[5] - keys[2]
    remember = ka.KeyValueMemory(hops=2, kernel_initializer="identity")
    _, weights = remember(
        keys[2:3], values[None], keys[None], return_attention_scores=True
    )
    _heatmaps(
        {"hop 1": weights[0, :1], "hop 2": weights[0, 1:]}, axes=("slot", "")
    )


def _two_weights(
    query: np.ndarray, key: np.ndarray, attend: ka.ForwardAttention
) -> np.ndarray:
    """Those of a softmax, and those of `attend`, which are returned."""
    _, plain = ka.LuongAttention("dot")(
        query, key, return_attention_scores=True
    )
    _, weights = attend(query, key, return_attention_scores=True)
    _heatmaps({"softmax": plain[0], type(attend).__name__: weights[0]})
    return _numpy(weights)[0]


def _three_weights(align: ka.SoftmaxAlignment) -> None:
    moving = np.linspace(-3, 4, 141, dtype="float32")
    scores = np.stack([moving, 0 * moving, 0 * moving + 0.5], -1)[None]
    weights = _numpy(align(scores))[0]
    _lines(
        moving,
        {
            "moving key": weights[:, 0],
            "key with score 0": weights[:, 1],
            "key with score 0.5": weights[:, 2],
        },
        "score of the moving key",
        "weight",
    )
    plt.ylim(-0.03, 1.03)


def _scores(score: ka.DotScore, size: int) -> np.ndarray:
    keras.utils.set_random_seed(0)
    return _numpy(score(_normal((1, 512, size)), _normal((1, 16, size))))


def _built(layer: keras.Layer, *tensors: np.ndarray) -> list[keras.Variable]:
    layer.build(*(x.shape for x in tensors))
    return layer.weights


def _normal(shape: tuple[int, ...]) -> np.ndarray:
    return np.random.normal(size=shape).astype("float32")


def _positions(steps: int, size: int = 16) -> np.ndarray:
    """Sines and cosines that tell a step from every other, `(1, T, size)`."""
    rate = 10.0 ** (-2 * np.arange(size // 2) / size)
    phase = np.arange(steps)[:, None] * rate
    waves = np.concatenate([np.sin(phase), np.cos(phase)], -1)
    return waves[None].astype("float32")


def _numpy(x: object) -> np.ndarray:
    return np.asarray(ops.convert_to_numpy(x))


def _figure(width: float, height: float) -> None:
    plt.figure(figsize=(width, height), dpi=100, layout="constrained")


def _lines(
    x: object, curves: dict[str, object], xlabel: str, ylabel: str
) -> None:
    _figure(6, 3)
    for name, y in curves.items():
        plt.plot(x, y, label=name)
    plt.xlabel(xlabel)
    plt.ylabel(ylabel)
    plt.legend(fontsize=8)


def _heatmaps(
    maps: dict[str, object],
    axes: tuple[str, str] = ("key", "query"),
    colours: str = "Blues",
    extent: tuple[float, float, float, float] | None = None,
) -> None:
    """Side by side, on one scale; rows are queries."""
    tables = [_numpy(table) for table in maps.values()]
    low = min(table.min() for table in tables) if colours != "Blues" else 0
    high = max(table.max() for table in tables)
    _figure(3.1 if len(maps) == 1 else 2.1 * len(maps) + 0.6, 2.7)
    drawn = []
    for place, (title, table) in enumerate(zip(maps, tables, strict=True), 1):
        panel = plt.subplot(1, len(maps), place)
        image = panel.imshow(
            table,
            cmap=colours,
            vmin=low,
            vmax=high,
            extent=extent,
            aspect="auto",
        )
        panel.set_title(title, fontsize=9)
        panel.set_xlabel(axes[0])
        panel.set_ylabel(axes[1] if place == 1 else "")
        panel.tick_params(labelsize=7)
        for axis in (panel.xaxis, panel.yaxis):
            axis.set_major_locator(MaxNLocator(5, integer=True))
        drawn.append(panel)
    plt.colorbar(image, ax=drawn, shrink=0.8).ax.tick_params(labelsize=7)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    names = parser.parse_args().names or list(DRAWINGS)
    FOLDER.mkdir(exist_ok=True)
    for name in names:
        keras.utils.set_random_seed(0)
        DRAWINGS[name]()
        plt.savefig(FOLDER / f"{name}.png", metadata={"Software": None})
        plt.close("all")


if __name__ == "__main__":
    main()
