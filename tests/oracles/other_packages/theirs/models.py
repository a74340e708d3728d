"""The layers, as their users make them."""

from tests.oracles.other_packages import inputs
from tests.oracles.other_packages.theirs import copied


def layer(name):
    """One of `inputs.PACKAGES`; a package is imported when it is needed."""
    package = inputs.PACKAGES[name]
    if package == "attention":
        import attention

        return attention.Attention(inputs.UNITS, name)
    if package == "keras_self_attention":
        return _self_attention(name)
    return {
        "kaggle": lambda: copied.Attention(inputs.STEPS),
        "kaggle_without_bias": lambda: copied.Attention(inputs.STEPS, False),
        "column": copied.Column,
        "average": copied.AttentionWeightedAverage,
        "context": copied.AttentionWithContext,
        "context_without_bias": lambda: copied.AttentionWithContext(False),
    }[name]()


def _self_attention(name):
    import keras_self_attention

    if name == "weighted":
        return keras_self_attention.SeqWeightedAttention()
    options = {
        "additive": {},
        "additive_without_biases": {
            "use_additive_bias": False,
            "use_attention_bias": False,
        },
        "additive_with_sigmoid": {"attention_activation": "sigmoid"},
        "multiplicative": {"attention_type": "multiplicative"},
        "multiplicative_with_sigmoid": {
            "attention_type": "multiplicative",
            "attention_activation": "sigmoid",
        },
        "window": {"attention_width": 3},
        "history": {"history_only": True},
        "history_window": {"history_only": True, "attention_width": 2},
    }
    return keras_self_attention.SeqSelfAttention(inputs.UNITS, **options[name])
