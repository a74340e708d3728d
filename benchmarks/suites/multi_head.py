"""MultiHeadAttention beside keras.layers.MultiHeadAttention.

Self-attention in each way of calling; the limit is the matrix products alone,
`exponentials` the same with one exponential of each score, and `recomputed`, of
training, with the scores and their exponentials twice. `start` is a program
that does next to nothing, in the same way of calling.
"""

from benchmarks import matrix_products, programs, ways
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
    limits = {
        "start": programs.started(models["ours"], case.way, case.batch),
        "limit": matrix_products.multi_head(case),
        "exponentials": matrix_products.multi_head_exponentials(case),
    }
    if case.way in ways.TRAINING:
        limits["recomputed"] = matrix_products.multi_head_recomputed(case)
    return {**compared, **limits}
