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
) -> tuple[Tensors, Tensors]:
    """The inputs of attention by who uses them, without masks that are None.

    Returns:
        rows: Tensors `(..., Tq, n)`: `query`, its `position` among the keys
            (the last query stands at the last key), whether it `is_broken`,
            `query_mask` and `attention_mask`.
        shared: `key` and `value`, `(..., Tv, dim)`; `is_broken` and
            `value_mask`, `(..., 1, Tv)`.
    """
    shared = memory(value, key, value_mask)
    query, is_broken = masks.finite(query)
    rows = {
        "query": query,
        "position": _positions(query, shared["key"]),
        "is_broken": masks.of_queries(is_broken),
        "query_mask": masks.of_queries(query_mask),
        "attention_mask": _per_query(attention_mask, query),
    }
    shared["value_mask"] = masks.every(
        shared.get("value_mask"), _of_keys_alone(attention_mask, query)
    )
    return _given(rows), _given(shared)


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


def row(query: Tensor, position: Tensor) -> Tensors:
    """What one query has, at a place of its own in each example.

    Args:
        query: `(..., 1, dim)`.
        position: Integers `(batch,)`.
    """
    query, is_broken = masks.finite(query)
    ones = [1] * (len(query.shape) - 1)
    return {
        "query": query,
        "position": ops.reshape(position, (-1, *ones)),
        "is_broken": masks.of_queries(is_broken),
    }


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
    return masks.of_keys(mask)


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
