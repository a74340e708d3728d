"""Short windows of a long sequence, one for each query."""

from keras import ops

from keras_attention import query_blocks
from keras_attention.base_layer import Tensor
from keras_attention.stages import Read, Score

#: How often the windows of one block hold every key, on average.
TIMES = 4


def places(start: Tensor, width: int) -> Tensor:
    """The keys in each window, `(..., Tq) -> (..., Tq, width)`; any integer."""
    return ops.expand_dims(start, -1) + ops.arange(width, dtype="int32")


def gather(sequence: Tensor, place: Tensor) -> Tensor:
    """The steps in each window.

    Args:
        sequence: `(..., Tv, dim)`.
        place: Integers `(..., Tq, width)`. One outside the sequence gets
            some step of it, to be hidden by `exists`.

    Returns:
        `(..., Tq, width, dim)`.
    """
    *leading, steps, dim = ops.shape(sequence)
    count = 1
    for size in leading:
        count = count * size
    first = ops.arange(count, dtype="int32") * steps
    first = ops.reshape(first, (*leading, 1, 1))
    flat = ops.reshape(sequence, (1, count * steps, dim))
    if not isinstance(steps, int) or steps == 0:
        # An empty sequence, too, has a step to be hidden.
        flat = ops.pad(flat, [[0, 0], [0, 1], [0, 0]])
    # Along axis 1, since the gradient along axis 0 is an IndexedSlices.
    inside = ops.clip(place, 0, ops.maximum(steps - 1, 0))
    chosen = ops.take(flat, first + inside, axis=1)
    return ops.squeeze(chosen, 0)


def gather_mask(mask: Tensor, place: Tensor) -> Tensor:
    """A mask `(..., Tv)` at the places of the windows, `(..., Tq, width)`."""
    return _as_mask(gather(_as_sequence(mask), place))


def before(sequence: Tensor, width: int) -> Tensor:
    """The steps before each step, zeros before the first.

    Args:
        sequence: `(..., T, dim)`.
        width: How many.

    Returns:
        `(..., T, width, dim)`.
    """
    steps = ops.shape(sequence)[-2]
    ends = [[0, 0]] * (len(sequence.shape) - 2)
    padded = ops.pad(sequence, [*ends, [width, 0], [0, 0]])
    # Slices: XLA makes vectors of them, which it does not of a gather.
    each = [padded[..., i : i + steps, :] for i in range(width)]
    return ops.stack(each, axis=-2)


def mask_before(mask: Tensor, width: int) -> Tensor:
    """A mask `(..., T)` at the steps before each, False before the first."""
    return _as_mask(before(_as_sequence(mask), width))


def _as_sequence(mask: Tensor) -> Tensor:
    """`(..., T) -> (..., T, 1)`, of numbers."""
    return ops.expand_dims(ops.cast(mask, "float32"), -1)


def _as_mask(flags: Tensor) -> Tensor:
    """Back again."""
    return ops.squeeze(flags, -1) > 0.5


def exists(place: Tensor, steps: Tensor | int) -> Tensor:
    """Which places of a window lie inside the sequence."""
    return ops.logical_and(place >= 0, place < steps)


def scatter(weights: Tensor, start: Tensor, steps: Tensor | int) -> Tensor:
    """Weights of windows, put where they belong in the whole sequence.

    Args:
        weights: `(..., Tq, width)`, 0 outside the sequence.
        start: The first place of each window, `(..., Tq)`.
        steps: `Tv`.

    Returns:
        `(..., Tq, Tv)`.
    """
    width = weights.shape[-1]
    slot = ops.arange(steps, dtype="int32") - ops.expand_dims(start, -1)
    inside = ops.clip(slot, 0, width - 1)
    spread = ops.take_along_axis(weights, inside, axis=-1)
    return ops.where(exists(slot, width), spread, 0.0)


class Window:
    """Abstract: the keys around a centre, and how they are looked at.

    Args:
        centre: A real number for each query, `(..., Tq, 1)`.
        radius: How far a key may be from it.
        steps: `Tv`.

    Attributes:
        place: The keys that a query is compared with, integers that broadcast
            to `(..., Tq, n)`; they hold its window.
        distance: From the centre, `(..., Tq, n)`.
    """

    def __init__(
        self, centre: Tensor, radius: int, steps: Tensor | int
    ) -> None:
        self.radius = radius
        self.steps = steps
        self.place = self._place(centre)
        self.distance = ops.cast(self.place, centre.dtype) - centre

    @staticmethod
    def numbers_per_query(
        radius: int, steps: Tensor | int, per_pair: float, per_key: int
    ) -> Tensor | float:
        """How many numbers a query takes at the peak.

        Args:
            radius: As of the window.
            steps: `Tv`.
            per_pair: Numbers that a score takes.
            per_key: Numbers of a key and its value.
        """
        raise NotImplementedError

    @staticmethod
    def fewest(radius: int, steps: Tensor | int) -> Tensor | int:
        """How many queries a block of them holds at least.

        Args:
            radius: As of the window.
            steps: `Tv`.
        """
        raise NotImplementedError

    def _place(self, centre: Tensor) -> Tensor:
        raise NotImplementedError

    def inside(self) -> Tensor:
        """Which places are within the radius and exist, `(..., Tq, n)`."""
        raise NotImplementedError

    def scores(self, score: Score, query: Tensor, key: Tensor) -> Tensor:
        """Of projected queries and keys, `(..., Tq, n)`."""
        raise NotImplementedError

    def of_keys(self, mask: Tensor) -> Tensor:
        """A mask `(..., 1, Tv)` at the places, up to broadcasting."""
        raise NotImplementedError

    def of_pairs(self, mask: Tensor) -> Tensor:
        """A mask `(..., Tq, Tv)` at the places, `(..., Tq, n)`."""
        raise NotImplementedError

    def read(
        self, read: Read, portions: Tensor, total: Tensor, value: Tensor
    ) -> Tensor:
        """The context of portions `(..., Tq, n)` over their total."""
        raise NotImplementedError

    def spread(self, weights: Tensor) -> Tensor:
        """Weights `(..., Tq, n)` in the whole sequence, `(..., Tq, Tv)`."""
        raise NotImplementedError


class Gathered(Window):
    """Each query is a batch of its own, with its window as the memory."""

    @staticmethod
    def numbers_per_query(
        radius: int, steps: Tensor | int, per_pair: float, per_key: int
    ) -> float:
        """The scores, keys and values of a window."""
        return (2 * radius + 1) * (per_pair + per_key)

    @staticmethod
    def fewest(radius: int, steps: Tensor | int) -> Tensor | int:
        """So many that their windows hold every key some times.

        Each block's gradient is added to that of all keys: with blocks of a
        fixed size, that would be quadratic in the length.
        """
        return TIMES * steps // (2 * radius + 1)

    def _place(self, centre: Tensor) -> Tensor:
        return places(self._start(centre), 2 * self.radius + 1)

    def _start(self, centre: Tensor) -> Tensor:
        """The first whole place that is not left of the window, `(..., Tq)`."""
        first = ops.ceil(ops.squeeze(centre, -1) - self.radius)
        return ops.cast(first, "int32")

    def inside(self) -> Tensor:
        """A window may reach beyond the ends."""
        return ops.logical_and(
            exists(self.place, self.steps),
            ops.abs(self.distance) <= self.radius,
        )

    def scores(self, score: Score, query: Tensor, key: Tensor) -> Tensor:
        """One query is compared with the keys of its window."""
        each = ops.expand_dims(query, -2)
        return ops.squeeze(score.compare(each, gather(key, self.place)), -2)

    def of_keys(self, mask: Tensor) -> Tensor:
        """Gathered as keys are."""
        return gather_mask(ops.squeeze(mask, -2), self.place)

    def of_pairs(self, mask: Tensor) -> Tensor:
        """A row of the mask is gathered as its window is."""
        within = ops.clip(self.place, 0, ops.maximum(self.steps - 1, 0))
        flags = ops.cast(mask, "int32")
        if not isinstance(self.steps, int) or self.steps == 0:  # As `gather`.
            ends = [[0, 0]] * (len(mask.shape) - 1)
            flags = ops.pad(flags, [*ends, [0, 1]])
        return ops.take_along_axis(flags, within, axis=-1) > 0

    def read(
        self, read: Read, portions: Tensor, total: Tensor, value: Tensor
    ) -> Tensor:
        """The values of the window are read."""
        # Divided before: XLA writes a quotient down, and what it does not, it
        # makes again for each number that it reads.
        each = ops.expand_dims(portions / total, -2)
        return ops.squeeze(read.read(each, gather(value, self.place)), -2)

    def spread(self, weights: Tensor) -> Tensor:
        """Each window is put where it belongs."""
        return scatter(weights, self.place[..., 0], self.steps)


class Whole(Window):
    """All keys, those outside the window hidden: fast while they are few."""

    @staticmethod
    def numbers_per_query(
        radius: int, steps: Tensor | int, per_pair: float, per_key: int
    ) -> Tensor | float:
        """The scores of all keys."""
        return steps * per_pair

    @staticmethod
    def fewest(radius: int, steps: Tensor | int) -> int:
        """As of any product."""
        return query_blocks.FEWEST

    def _place(self, centre: Tensor) -> Tensor:
        return ops.arange(self.steps, dtype="int32")

    def inside(self) -> Tensor:
        """Every place exists."""
        return ops.abs(self.distance) <= self.radius

    def scores(self, score: Score, query: Tensor, key: Tensor) -> Tensor:
        """Every query is compared with every key."""
        return score.compare(query, key)

    def of_keys(self, mask: Tensor) -> Tensor:
        """As it is."""
        return mask

    def of_pairs(self, mask: Tensor) -> Tensor:
        """As it is."""
        return mask

    def read(
        self, read: Read, portions: Tensor, total: Tensor, value: Tensor
    ) -> Tensor:
        """All values are read."""
        return read.read(portions, value) / total

    def spread(self, weights: Tensor) -> Tensor:
        """They are."""
        return weights
