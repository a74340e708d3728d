"""The tensors of one call: what each query has, and what all queries share."""

from keras import ops

from keras_attention import masks
from keras_attention.base_layer import Tensor

Tensors = dict[str, Tensor]


def rows_and_shared(
    query: Tensor,
    value: Tensor,
    key: Tensor | None,
    query_mask: Tensor | None,
    value_mask: Tensor | None,
    attention_mask: Tensor | None,
    hides_pairs: bool = False,
) -> tuple[Tensors, Tensors]:
    """The inputs of attention by who uses them, without masks that are None.

    Keys that are hidden from all queries are 0, and so are queries that see
    nothing. Where some queries see a key and others do not, NaN and infinity
    have to be followed: then both also tell what `is_broken`.

    Args:
        query: `(..., Tq, query_dim)`.
        value: `(..., Tv, value_dim)`.
        key: `(..., Tv, key_dim)`; None is the value.
        query_mask: `(..., Tq)`.
        value_mask: `(..., Tv)`.
        attention_mask: `(..., Tv)` or `(..., Tq, Tv)`.
        hides_pairs: Whether more than the masks hides keys from some queries.

    Returns:
        rows: Tensors `(..., Tq, n)`: `query`, its `position` among the keys
            (the last query stands at the last key), whether it `is_broken`,
            `query_mask` and `attention_mask`.
        shared: `key` and `value`, `(..., Tv, dim)`; `is_broken` and
            `value_mask`, `(..., 1, Tv)`.
    """
    by_pair = _per_query(attention_mask, query)
    by_key = masks.every(value_mask, _of_keys_alone(attention_mask, query))
    rows = {
        "position": _positions(query, value),
        "query_mask": masks.of_queries(query_mask),
        "attention_mask": by_pair,
    }
    if hides_pairs or by_pair is not None or query_mask is not None:
        shared = memory(value, key, by_key)
        rows |= _finite_row(query)
    else:
        shared = _shown(value, key, by_key)
        rows["query"] = masks.shown(query, _any_of(by_key))
    return _given(rows), shared


def memory(
    value: Tensor, key: Tensor | None, value_mask: Tensor | None
) -> Tensors:
    """What all queries share: see `rows_and_shared`."""
    value, value_is_broken = masks.finite(value)
    key, key_is_broken = (
        (value, value_is_broken) if key is None else masks.finite(key)
    )
    is_broken = ops.logical_or(key_is_broken, value_is_broken)
    return _given(
        {
            "key": key,
            "value": value,
            "is_broken": masks.of_keys(is_broken),
            "value_mask": masks.of_keys(value_mask),
        }
    )


def _shown(
    value: Tensor, key: Tensor | None, value_mask: Tensor | None
) -> Tensors:
    """As `memory`, for queries that all see the same keys."""
    return _given(
        {
            "key": masks.shown(value if key is None else key, value_mask),
            "value": masks.shown(value, value_mask),
            "value_mask": masks.of_keys(value_mask),
        }
    )


def _any_of(value_mask: Tensor | None) -> Tensor | None:
    """Whether a key is visible at all, `(..., 1)`."""
    if value_mask is None:
        return None
    return ops.any(value_mask, axis=-1, keepdims=True)


def row(query: Tensor, position: Tensor) -> Tensors:
    """What one query has, at a place of its own in each example.

    Args:
        query: `(..., 1, dim)`.
        position: Integers `(batch,)`.
    """
    ones = [1] * (len(query.shape) - 1)
    place = ops.reshape(position, (-1, *ones))
    return {**_finite_row(query), "position": place}


def poisoned(scores: Tensor, rows: Tensors, shared: Tensors) -> Tensor:
    """NaN for every pair of which one is broken, where that was looked for."""
    if "is_broken" not in rows:
        return scores
    is_broken = ops.logical_or(rows["is_broken"], shared["is_broken"])
    return masks.poison(scores, is_broken)


def _finite_row(query: Tensor) -> Tensors:
    query, is_broken = masks.finite(query)
    return {"query": query, "is_broken": masks.of_queries(is_broken)}


def _positions(query: Tensor, key: Tensor) -> Tensor:
    Tq, Tv = ops.shape(query)[-2], ops.shape(key)[-2]
    return ops.expand_dims(ops.arange(Tq, dtype="int32") + (Tv - Tq), 1)


def _per_query(mask: Tensor | None, query: Tensor) -> Tensor | None:
    """An `attention_mask` with a row per query."""
    if mask is None or len(mask.shape) == len(query.shape) - 1:
        return None
    if len(mask.shape) != len(query.shape):
        raise ValueError(
            "`attention_mask` must have the shape (batch, Tv), (batch, Tq, Tv)"
            " or (1, Tq, Tv), and for heads also (batch, heads, Tq, Tv). "
            f"Received: attention_mask with shape {tuple(mask.shape)}"
        )
    if mask.shape[-2] == 1 != query.shape[-2]:  # One row for all queries.
        return ops.logical_and(mask, ops.ones_like(query[..., :1], "bool"))
    return mask


def _of_keys_alone(mask: Tensor | None, query: Tensor) -> Tensor | None:
    """An `attention_mask` with an axis less than the inputs hides keys."""
    if mask is None or len(mask.shape) != len(query.shape) - 1:
        return None
    return mask


def _given(tensors: dict[str, Tensor | None]) -> Tensors:
    return {name: x for name, x in tensors.items() if x is not None}


def lengths(shared: Tensors) -> Tensor:
    """The true length of each memory, `(..., 1)`: its last visible key's."""
    steps = ops.shape(shared["value"])[-2]
    if "value_mask" not in shared:
        return ops.full((1,), steps, dtype="int32")
    visible = ops.squeeze(shared["value_mask"], -2)
    numbers = ops.arange(1, steps + 1, dtype="int32")
    return ops.max(
        ops.where(visible, numbers, 0), axis=-1, keepdims=True, initial=0
    )
