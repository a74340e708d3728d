"""The three contracts an attention mechanism is made of.

    scores  = score(query, key)              (..., Tq, Tv)
    weights = alignment(scores, visible)     (..., Tq, Tv)
    context = read(weights, value)           (..., Tq, value_dim)

`...` is the batch, or the batch and heads. A stage is abstract or final:
subclass the classes below, never a concrete one. Each stage is also a layer
of its own; an attention layer calls its verbs (`compare`, `spread`, `read`)
and computes them in its own dtype.

An alignment gives its weights as portions and their total, and a read is
linear in them. So an attention layer divides the context, `(..., Tq, dim)`,
not the weights, `(..., Tq, Tv)`.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from keras import ops

from keras_attention import tables
from keras_attention.base_layer import PooledLayer, Shape, Tensor
from keras_attention.precision import widened
from keras_attention.serialization import EXPORTED
from keras_attention.written_gradients import are_written, copied

#: What a hidden key scores, and how far visible scores may go the same way.
HIDDEN = -1e30
LIMIT = 1e29


class Score(PooledLayer):
    """How well does each key answer each query?

    A key is projected once per memory, a query once per query; only `compare`
    sees pairs. All three are free of side effects. The score of a pair does
    not depend on the place of the key, or it is a `PlaceScore`.
    """

    def build(self, query_shape: Shape, key_shape: Shape) -> None:
        """Creates the weights. By default there are none."""

    def project_query(self, query: Tensor) -> Tensor:
        """`(..., Tq, query_dim)` to what `compare` takes."""
        return query

    def project_key(self, key: Tensor) -> Tensor:
        """`(..., Tv, key_dim)` to what `compare` takes."""
        return key

    def compare(self, query: Tensor, key: Tensor) -> Tensor:
        """The scores of projected queries and keys, `(..., Tq, Tv)`."""
        raise NotImplementedError

    def numbers_per_pair(self) -> int:
        """How many numbers `compare` holds per query and key at its peak."""
        return 1

    def call(self, query: Tensor, key: Tensor) -> Tensor:
        """`(..., Tq, query_dim), (..., Tv, key_dim) -> (..., Tq, Tv)`."""
        scores = self.compare(self.project_query(query), self.project_key(key))
        return ops.cast(scores, self.compute_dtype)


class PlaceScore(Score):
    """How well does each place answer each query?

    Entry j is for place j of the memory; in a window, for place j of that.
    """


class Alignment(PooledLayer):
    """How much of each value does each query get?

    weights = portions / total
    """

    def spread(
        self, scores: Tensor, visible: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Portions, `(..., Tq, Tv)`, and their total, `(..., Tq, 1)`.

        In float32 at least. Portions are 0 where not `visible`; the total is
        never 0.
        """
        raise NotImplementedError

    def align(self, scores: Tensor, visible: Tensor | None) -> Tensor:
        """The weights, in the alignment's dtype."""
        portions, total = self.spread(scores, visible)
        return divided(portions, total, self.compute_dtype)

    def call(self, scores: Tensor, mask: Tensor | None = None) -> Tensor:
        """`(..., Tq, Tv) -> (..., Tq, Tv)`; `mask` is True where visible."""
        return self.align(scores, mask)


class Normalizer(Alignment):
    """An alignment that looks at each query's scores alone.

    Subclasses write `normalize`. Masking and precision are settled here, once.
    """

    def normalize(self, scores: Tensor) -> tuple[Tensor, Tensor]:
        """Turns float32 scores into portions, and what divides them.

        Hidden keys score `HIDDEN`. The divisor, `(..., Tq, 1)`, is never 0.
        Leading axes of 1 may be missing.
        """
        raise NotImplementedError

    def spread(
        self, scores: Tensor, visible: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Normalises over the visible keys, in float32 at least."""
        portions, total = tables.without_ones(self._spread, scores, visible)
        return portions, total

    def _spread(
        self, scores: Tensor, visible: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        wide = widened(scores)
        if wide is not scores:  # Half precision overflows.
            wide = ops.clip(wide, -LIMIT, LIMIT)
        if visible is None:
            return self.normalize(wide)
        portions, total = self.normalize(ops.where(visible, wide, HIDDEN))
        # A query that sees no key reads zeros, not an average.
        return ops.where(visible, portions, 0.0), total


def divided(portions: Tensor, total: Tensor, dtype: str) -> Tensor:
    """`portions / total`, or what was read by portions over their total.

    Its gradient is written out on TensorFlow, with one division for each row,
    and of the quotient, so that the portions need not be kept beside it.
    """
    if are_written(portions, total):
        return ops.cast(_quotient(*copied([portions, total])), dtype)
    return ops.cast(portions / total, dtype)


@ops.custom_gradient
def _quotient(
    portions: Tensor, total: Tensor
) -> tuple[Tensor, Callable[[Tensor], tuple[Tensor, Tensor]]]:
    quotient = portions / total

    def gradient(upstream: Tensor) -> tuple[Tensor, Tensor]:
        by_portions = upstream * (1.0 / total)
        return by_portions, -ops.sum(by_portions * quotient, -1, keepdims=True)

    return quotient, gradient


class Read(PooledLayer):
    """What does each query take away?"""

    def read(self, weights: Tensor, value: Tensor) -> Tensor:
        """The context of each query, `(..., Tq, dim)`, in float32 at least.

        Linear in `weights`: twice the weights, twice the context.
        """
        raise NotImplementedError

    def call(self, weights: Tensor, value: Tensor) -> Tensor:
        """`(..., Tq, Tv), (..., Tv, dim) -> (..., Tq, dim)`."""
        return ops.cast(self.read(weights, value), self.compute_dtype)


Stage = TypeVar("Stage", Score, Alignment, Read)

#: Names by which papers and libraries call a stage beside its class's own.
ALIASES = {"general": "bilinear", "concat": "additive"}


def get(kind: type[Stage], stage: Any, **kwargs: Any) -> Stage:
    """A stage as it is, or the one that a name means.

    Args:
        kind: `Score`, `Alignment` or `Read`.
        stage: An instance of `kind`, or a name such as `"additive"`.
        **kwargs: For the constructor, where `stage` is a name.

    Raises:
        ValueError: `stage` is neither.
    """
    if isinstance(stage, kind):
        return stage
    named: dict[Any, type[Stage]] = {
        _name(cls, kind): cls for cls in EXPORTED if issubclass(cls, kind)
    }
    name = ALIASES.get(stage, stage) if isinstance(stage, str) else None
    if name in named:
        return named[name](**kwargs)
    argument = kind.__name__.lower()
    raise ValueError(
        f"`{argument}` must be a {kind.__name__} or one of "
        f"{sorted({*named, *_aliases(named)})}. Received: "
        f"{argument}={stage!r}"
    )


def _name(cls: type, kind: type) -> str:
    """`ScaledDotScore` is `"scaled_dot"`."""
    stem = cls.__name__.removesuffix(kind.__name__)
    words = "".join(f"_{c.lower()}" if c.isupper() else c for c in stem)
    return words.lstrip("_")


def _aliases(named: dict[str, Any]) -> list[str]:
    return [alias for alias, name in ALIASES.items() if name in named]
