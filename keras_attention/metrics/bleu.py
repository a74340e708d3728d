"""BLEU, by sacreBLEU."""

import dataclasses
import itertools
from collections.abc import Sequence
from typing import Any

from keras_attention.metrics import extra
from keras_attention.metrics.error_rates import check_references


@dataclasses.dataclass(frozen=True)
class Bleu:
    """A score, and how it was computed.

    Args:
        score: From 0 to 100.
        signature: sacreBLEU's; scores with different ones do not compare.
    """

    score: float
    signature: str

    def __str__(self) -> str:
        return f"BLEU {self.score:.2f} ({self.signature})"


def bleu(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    **options: Any,
) -> Bleu:
    """BLEU of a corpus of sentences.

    Args:
        hypotheses: Sentences.
        references: For each hypothesis, a list of the sentences that are right.
        **options: Of `sacrebleu.BLEU`, such as `tokenize="none"` for ids that
            are joined by spaces, or `lowercase=True`.

    Returns:
        The score with its signature.

    Raises:
        ImportError: `sacrebleu` is not installed.
        ValueError: The numbers of hypotheses and references differ, or there
            is no reference.

    Example:
        >>> print(bleu(["the cat sat here"], [["the cat sat here"]]).score)
        100.0

    Reference:
        [Papineni et al., 2002](https://aclanthology.org/P02-1040), as computed
        by [sacreBLEU](https://github.com/mjpost/sacrebleu).
    """
    metric = extra.package("sacrebleu", "bleu").BLEU(**options)
    check_references(hypotheses, references)
    # sacreBLEU's way round: all first references, all second ones.
    ranked = [list(r) for r in itertools.zip_longest(*references)]
    score = metric.corpus_score(list(hypotheses), ranked)
    return Bleu(score.score, str(metric.get_signature()))
