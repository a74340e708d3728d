"""MultiHeadAttention beside keras.layers.MultiHeadAttention.

Self-attention in each way of calling. The limit is the matrix products alone;
`least` is a layer of these and of one exponential of each score, whose memory
is linear in the length, in the same way of calling.
"""

from benchmarks import matrix_products, ways
from benchmarks.cases import Case
from benchmarks.sides import Side
from benchmarks.suites import layers

MEMORY = ("ours", "keras")
WAYS = ("eager", "predict", "jit", "fit", "fit_jit")
DTYPES = ("float32", "mixed_bfloat16")


def cases(quick: bool) -> list[Case]:
    """Four lengths in five ways and two dtypes; one length, if quick."""
    size = {"batch": 2, "dim": 256, "heads": 4}
    lengths = (128, 512, 2048, 8192)
    if quick:
        size, lengths = {"batch": 1, "dim": 8, "heads": 2}, (16,)
    return [
        Case(**size, steps=steps, way=way, dtype=dtype)
        for dtype in DTYPES
        for steps in lengths
        for way in (WAYS if not quick or dtype == "float32" else ("eager",))
    ]


def sides(case: Case) -> dict[str, Side]:
    """Ours, Keras's, and the limits."""
    models = layers.multi_head(case)
    compared = {
        name: ways.side(model, case.way, case.batch)
        for name, model in models.items()
    }
    return {
        **compared,
        "limit": matrix_products.multi_head(case),
        "least": matrix_products.multi_head_least(case),
    }
