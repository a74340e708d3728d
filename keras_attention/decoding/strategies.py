"""How the next token is chosen: greedy, sampled, or by beam search."""

import dataclasses
from typing import Any, TypeAlias

from keras import ops

from keras_attention import arguments
from keras_attention.base_layer import Tensor
from keras_attention.decoding.largest import largest

#: What a place without any attention counts as, in the coverage penalty.
LEAST = 1e-9


@dataclasses.dataclass(frozen=True)
class Hypotheses:
    """What is known of the sequences so far, `(batch, width)` each.

    Args:
        log_probs: The logarithm of each one's probability.
        lengths: How many tokens each has, its end among them.
        finished: Whether it has ended.
        coverage: How much attention each place got, `(batch, width, Tv)`, and
            None where nobody asks.
    """

    log_probs: Tensor
    lengths: Tensor
    finished: Tensor
    coverage: Tensor | None = None


#: From which hypothesis each new one comes, its token, and its log-probability.
Choice: TypeAlias = tuple[Tensor, Tensor, Tensor]


class Strategy:
    """Abstract: chooses the next token of every hypothesis.

    Attributes:
        width: How many hypotheses each example has.
        needs_noise: Whether `choose` needs a random number per step.
        needs_coverage: Whether `choose` needs what attention covered.
        seed: Of the noise; None takes the decoder's own.
    """

    width: int = 1
    needs_noise: bool = False
    needs_coverage: bool = False
    seed: int | None = None

    def choose(
        self, log_probs: Tensor, so_far: Hypotheses, noise: Tensor | None
    ) -> Choice:
        """The next token.

        Args:
            log_probs: Of every token, `(batch, width, tokens)`; those of a
                finished hypothesis leave it as it is.
            so_far: The hypotheses before the token.
            noise: Uniform numbers in [0, 1), `(batch, 1)`.

        Returns:
            `(batch, width)` each: which hypothesis is gone on with, the token,
            and the log-probability with it.
        """
        raise NotImplementedError

    def rank(self, hypotheses: Hypotheses) -> Tensor:
        """What hypotheses are ordered by, `(batch, width)`."""
        return hypotheses.log_probs


@dataclasses.dataclass(frozen=True)
class Greedy(Strategy):
    """The most probable token, each time."""

    def choose(
        self, log_probs: Tensor, so_far: Hypotheses, noise: Tensor | None
    ) -> Choice:
        """The largest of each row."""
        best, token = largest(ops.squeeze(log_probs, 1), 1)
        return ops.zeros_like(token), token, so_far.log_probs + best


@dataclasses.dataclass(frozen=True)
class Sample(Strategy):
    """A token drawn from the probabilities.

    Args:
        temperature: Divides the log-probabilities: below 1, likely tokens
            become likelier.
        top_k: Draw from so many of the most probable tokens.
        top_p: Draw from the fewest tokens that have this probability
            together, as [Holtzman et al., 2020](
            https://arxiv.org/abs/1904.09751).
        seed: With one, each call draws the same.
    """

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None
    seed: int | None = None

    needs_noise = True

    def __post_init__(self) -> None:
        temperature = arguments.number("temperature", self.temperature)
        if temperature <= 0:
            raise ValueError(
                "`temperature` must be above 0; the limit 0 is `Greedy`. "
                f"Received: temperature={self.temperature!r}"
            )
        arguments.optional_integer("top_k", self.top_k)
        if self.top_p is not None and not 0 < self.top_p <= 1:
            raise ValueError(
                "`top_p` must be a probability, 0 < top_p <= 1. "
                f"Received: top_p={self.top_p!r}"
            )
        arguments.seed(self.seed)

    def choose(
        self, log_probs: Tensor, so_far: Hypotheses, noise: Tensor | None
    ) -> Choice:
        """The token at which the cumulated probabilities pass the noise."""
        token = draw(self.portions(log_probs), noise)
        own = ops.take_along_axis(
            log_probs, ops.expand_dims(token, -1), axis=-1
        )
        total = so_far.log_probs + ops.squeeze(own, -1)
        return ops.zeros_like(token), token, total

    def portions(self, log_probs: Tensor) -> Tensor:
        """Proportional to the probabilities that are drawn from."""
        scaled = log_probs / self.temperature
        portions = ops.softmax(scaled)
        size = portions.shape[-1]
        if self.top_k is not None:
            kth = ops.top_k(portions, min(self.top_k, size))[0][..., -1:]
            portions = ops.where(portions >= kth, portions, 0.0)
        if self.top_p is None:
            return portions
        portions = portions / ops.sum(portions, axis=-1, keepdims=True)
        largest_first = ops.top_k(portions, size)[0]
        before = ops.cumsum(largest_first, axis=-1) - largest_first
        needed = ops.where(before < self.top_p, largest_first, 1.0)
        least = ops.min(needed, axis=-1, keepdims=True)
        return ops.where(portions >= least, portions, 0.0)


@dataclasses.dataclass(frozen=True)
class Beam(Strategy):
    """Beam search: the best hypotheses of all, at every step.

        rank(Y) = log P(Y) / lp(Y) + coverage_penalty * cp(Y)
        lp(Y)   = ((5 + |Y|) / 6) ^ length_penalty
        cp(Y)   = sum_j log min(sum_i a_ij, 1)

    A finished hypothesis keeps its log-probability and its length, its end
    token among it, and stays in the beam as long as its rank does.

    Args:
        width: How many hypotheses are kept.
        length_penalty: `alpha` of the paper; 0 for none.
        coverage_penalty: `beta` of the paper; 0 for none.

    Reference:
        [Wu et al., 2016](https://arxiv.org/abs/1609.08144), eq. 14.
    """

    width: int = 4
    length_penalty: float = 0.0
    coverage_penalty: float = 0.0

    def __post_init__(self) -> None:
        arguments.integer("width", self.width)
        arguments.number("length_penalty", self.length_penalty, 0.0)
        arguments.number("coverage_penalty", self.coverage_penalty, 0.0)

    @property
    def needs_coverage(self) -> bool:  # type: ignore[override]
        """Only for its penalty."""
        return self.coverage_penalty > 0

    def choose(
        self, log_probs: Tensor, so_far: Hypotheses, noise: Tensor | None
    ) -> Choice:
        """The best of all continuations of all hypotheses."""
        tokens = log_probs.shape[-1]
        totals = ops.expand_dims(so_far.log_probs, -1) + log_probs
        grows = ops.cast(ops.logical_not(so_far.finished), "int32")
        ranks = self._ranked(
            totals,
            ops.expand_dims(so_far.lengths + grows, -1),
            so_far.coverage,
        )
        batch = ops.shape(ranks)[0]
        flat = ops.reshape(ranks, (batch, self.width * tokens))
        _, best = largest(flat, self.width)
        flat = ops.reshape(totals, (batch, self.width * tokens))
        chosen = ops.take_along_axis(flat, best, axis=-1)
        return best // tokens, best % tokens, chosen

    def rank(self, hypotheses: Hypotheses) -> Tensor:
        """`rank(Y)`."""
        ranks = self._ranked(
            ops.expand_dims(hypotheses.log_probs, -1),
            ops.expand_dims(hypotheses.lengths, -1),
            hypotheses.coverage,
        )
        return ops.squeeze(ranks, -1)

    def _ranked(
        self, log_probs: Tensor, lengths: Tensor, coverage: Tensor | None
    ) -> Tensor:
        ranks = log_probs
        if self.length_penalty:
            sixths = (5.0 + ops.cast(lengths, log_probs.dtype)) / 6.0
            ranks = ranks / sixths**self.length_penalty
        if coverage is not None:
            covered = ops.clip(coverage, LEAST, 1.0)
            cp = ops.sum(ops.log(covered), axis=-1)
            ranks = ranks + self.coverage_penalty * ops.expand_dims(cp, -1)
        return ranks


NAMED: dict[str, type[Strategy]] = {
    "greedy": Greedy,
    "sample": Sample,
    "beam": Beam,
}


def get(strategy: Any, **options: Any) -> Strategy:
    """A strategy as it is, or the one that a name means.

    Args:
        strategy: A `Strategy`, or `"greedy"`, `"sample"` or `"beam"`.
        **options: For the constructor, where `strategy` is a name.

    Raises:
        ValueError: `strategy` is neither, or has no such option.
    """
    if isinstance(strategy, Strategy):
        if not options:
            return strategy
        names: list[str] = []
    elif strategy in NAMED:
        fields = dataclasses.fields(NAMED[strategy])  # type: ignore[arg-type]
        names = sorted(field.name for field in fields)
    else:
        raise ValueError(
            f"`strategy` must be a Strategy or one of {sorted(NAMED)}. "
            f"Received: strategy={strategy!r}"
        )
    unknown = sorted(set(options).difference(names))
    if unknown:
        raise ValueError(
            f"`{unknown[0]}` is no option of the strategy {strategy!r}, "
            f"whose options are {names}. "
            f"Received: {unknown[0]}={options[unknown[0]]!r}"
        )
    return NAMED[strategy](**options)


def draw(portions: Tensor, noise: Tensor | None) -> Tensor:
    """A token for each row of `portions`, `(..., tokens)`.

    Args:
        portions: Proportional to the probabilities.
        noise: Uniform numbers in [0, 1), `(...)`.
    """
    below = ops.cumsum(portions, axis=-1)
    bar = ops.expand_dims(noise, -1) * below[..., -1:]
    return ops.sum(ops.cast(below <= bar, "int32"), axis=-1)
