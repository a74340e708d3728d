"""Edit distance between sequences: word, phoneme and sequence error rate."""

import dataclasses
from collections.abc import Collection, Hashable, Sequence

from keras_attention.metrics import extra


@dataclasses.dataclass(frozen=True)
class ErrorRates:
    """Edits per token of the references, and the share of wrong sequences.

    Args:
        edits: Tokens to insert, delete or replace.
        reference_tokens: Tokens in the references.
        wrong: Sequences with an edit.
        sequences: All sequences.
    """

    edits: int
    reference_tokens: int
    wrong: int
    sequences: int

    @property
    def token(self) -> float:
        """Word or phoneme error rate; above 1 if much is inserted."""
        return self.edits / self.reference_tokens

    @property
    def sequence(self) -> float:
        """Share of the sequences that are not wholly right."""
        return self.wrong / self.sequences


def error_rates(
    hypotheses: Sequence[Sequence[Hashable]],
    references: Sequence[Sequence[Sequence[Hashable]]],
    ignore: Collection[Hashable] = (),
) -> ErrorRates:
    """How far hypotheses are from the nearest of their references.

    Edits and lengths are summed over all sequences before they are divided.
    Of two references that are equally near, the shorter counts.

    Args:
        hypotheses: Sequences of ids or of words.
        references: For each hypothesis, a list of the sequences that are right.
        ignore: Tokens that are left out on both sides, such as padding.

    Returns:
        The sums, with the rates `token` and `sequence`.

    Raises:
        ImportError: `rapidfuzz` is not installed.
        ValueError: The numbers of hypotheses and references differ, or there
            is no reference, or none has a token.

    Example:
        >>> rates = error_rates([[7, 8, 0]], [[[7, 9, 9], [7, 9]]], ignore=[0])
        >>> rates.token, rates.sequence
        (0.5, 1.0)

    Reference:
        Levenshtein, 1966, as computed by
        [RapidFuzz](https://github.com/rapidfuzz/RapidFuzz).
    """
    distance = extra.package(
        "rapidfuzz.distance.Levenshtein", "error_rates"
    ).distance
    check_references(hypotheses, references)

    def kept(sequence: Sequence[Hashable]) -> list[Hashable]:
        return [token for token in sequence if token not in ignore]

    nearest = [
        min((distance(kept(hypothesis), r), len(r)) for r in map(kept, right))
        for hypothesis, right in zip(hypotheses, references, strict=True)
    ]
    rates = ErrorRates(
        edits=sum(edits for edits, _length in nearest),
        reference_tokens=sum(length for _edits, length in nearest),
        wrong=sum(edits > 0 for edits, _length in nearest),
        sequences=len(nearest),
    )
    if not rates.reference_tokens:
        raise ValueError(
            "`references` must hold a token. "
            f"Received: references={references!r}"
        )
    return rates


def check_references(
    hypotheses: Sequence[object], references: Sequence[Sequence[object]]
) -> None:
    """Raises ValueError unless each hypothesis has a reference or more."""
    if len(hypotheses) != len(references):
        raise ValueError(
            "`references` must hold a list for each hypothesis. Received: "
            f"{len(hypotheses)} hypotheses, {len(references)} references"
        )
    for i, right in enumerate(references):
        if isinstance(right, str) or not len(right):
            raise ValueError(
                "`references` must hold a list of one reference or more for "
                f"each hypothesis. Received: references[{i}]={right!r}"
            )
