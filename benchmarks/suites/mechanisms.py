"""Every other mechanism beside its peer, forward and in training.

The peers are those of `benchmarks.peers`, each on the same weights. A peer
that wants another Keras runs in a process of its own, in its fastest way, and
its calls are timed there. `start` is the least of a compiled layer: a program
that does next to nothing; `bare` a program of the formula without masks, behind
a product with a weight: of a dot product, of places, or of a single query's
additive score, there with an exponential in place of tanh.
"""

from typing import Any

from benchmarks import comparison, peers, programs
from benchmarks.cases import Case
from benchmarks.settings import Settings

WAYS = ("eager", "predict", "fit", "fit_jit")

#: Whose scores are a table of dot products.
DOT_PRODUCTS = (
    "luong_dot",
    "luong_general",
    "luong_general_self",
    "scaled_dot",
    "scaled_dot_self",
    "cosine",
    "sigmoid",
)


#: Whose scores are additive, of a single query.
ADDITIVE_STEPS = (
    "bahdanau_tfa_step",
    "bahdanau_many_to_one",
    "bahdanau_normalized_tfa_step",
    "monotonic_additive_tfa_step",
)

#: The formula of each, in a program.
BARE = {
    **dict.fromkeys(DOT_PRODUCTS, programs.pairs),
    **dict.fromkeys(ADDITIVE_STEPS, programs.units),
    "luong_location": programs.places,
}


def cases(quick: bool) -> list[Case]:
    """Every peer in four ways; a few in two, if quick."""
    size = {"batch": 4, "steps": 256, "dim": 64, "heads": 4}
    names, chosen = list(peers.PEERS), WAYS
    if quick:
        size = {"batch": 2, "steps": 26, "dim": 8, "heads": 2}
        names, chosen = names[::9], ("predict", "fit")
    return [
        Case(**size, way=way, layer=name) for name in names for way in chosen
    ]


def sides(case: Case) -> dict[str, Any]:
    """Ours, the peer's, and the least of a program."""
    compared = peers.sides(case.layer, case, case.way)
    if case.layer in BARE:
        ours, _peer = peers.build(case.layer, case)
        bare = BARE[case.layer](ours, case.way)
        compared["bare"] = programs.run(bare, case.way, case.batch)
    return compared


def row(case: Case, settings: Settings) -> comparison.Row:
    """The row, with the peer's name; with an error if it is not there."""
    peer = peers.PEERS[case.layer]
    told = {"case": case.key(), "peer": peer.label, "note": peer.note}
    comparison.forget_programs()
    try:
        compared = comparison.compare(sides(case), case.dtype, settings)
    except peers.PeerNotInstalled as missing:
        compared = {"sides": {"peer": {"error": str(missing)}}, "ratios": {}}
    return {**told, **compared}
