"""Decoders with given tokens, greedy and by beam search; a loss."""

import tensorflow as tf

from tests.oracles.tensorflow_addons import inputs
from tests.oracles.tensorflow_addons.theirs.mechanisms import remember
from tests.oracles.tensorflow_addons.theirs.wrapper import first_state, wrapper


def run(tfa):
    """What every decoder gives, and the loss of given logits."""
    given = inputs.decoders()
    found = {"loss": _loss(tfa, given)}
    for name in inputs.DECODERS:
        parts = {**_training(tfa, given, name), **_greedy(tfa, given, name)}
        found |= {f"{name}-{part}": x for part, x in parts.items()}
    for name, case in inputs.BEAMS.items():
        parts = _beam(tfa, given, *case)
        found |= {f"{name}-{part}": x for part, x in parts.items()}
    return found


def _loss(tfa, given):
    is_real = inputs.real(given["targets_lengths"], inputs.T)
    return tfa.seq2seq.sequence_loss(
        tf.constant(given["logits"]),
        tf.constant(given["targets"]),
        tf.constant(is_real.astype("float32")),
    )


def output_layer(given, name, may_end=True):
    """One with the given weights."""
    kernel = inputs.output_W(given, name)
    layer = tf.keras.layers.Dense(inputs.TOKENS)
    layer.build((None, kernel.shape[0]))
    layer.set_weights([kernel, inputs.output_b(given, may_end)])
    return layer


def _training(tfa, given, name):
    cell = wrapper(tfa, given, *inputs.DECODERS[name])
    decoder = tfa.seq2seq.BasicDecoder(
        cell,
        tfa.seq2seq.TrainingSampler(),
        output_layer(given, name),
        impute_finished=True,
    )
    outputs, state, _lengths = decoder(
        tf.constant(given["embedding"][given["targets"]]),
        initial_state=first_state(cell, given),
        sequence_length=tf.constant(given["targets_lengths"]),
    )
    h, c = state.cell_state
    return {"logits": outputs.rnn_output, "h": h, "c": c}


def _greedy(tfa, given, name):
    cell = wrapper(tfa, given, *inputs.DECODERS[name])
    decoder = tfa.seq2seq.BasicDecoder(
        cell,
        tfa.seq2seq.GreedyEmbeddingSampler(),
        output_layer(given, name),
        maximum_iterations=inputs.MAX_LENGTH,
    )
    outputs, _state, lengths = decoder(
        tf.constant(given["embedding"]),
        initial_state=first_state(cell, given),
        start_tokens=tf.fill([inputs.B], inputs.START),
        end_token=inputs.END,
    )
    return {"greedy": outputs.sample_id, "greedy_lengths": lengths}


def _beam(tfa, given, name, may_end, penalties):
    cell = wrapper(tfa, given, *inputs.DECODERS[name], alignment_history=True)
    remember(cell._attention_mechanisms[0], given, inputs.WIDTH)
    decoder = tfa.seq2seq.BeamSearchDecoder(
        cell,
        inputs.WIDTH,
        output_layer=output_layer(given, name, may_end),
        maximum_iterations=inputs.MAX_LENGTH,
        reorder_tensor_arrays=False,
        **{f"{penalty}_weight": x for penalty, x in penalties.items()},
    )
    outputs, state, _lengths = decoder(
        tf.constant(given["embedding"]),
        initial_state=first_state(cell, given, inputs.WIDTH),
        start_tokens=tf.fill([inputs.B], inputs.START),
        end_token=inputs.END,
    )
    steps = outputs.beam_search_decoder_output
    alignments = tf.reshape(
        state.cell_state.alignment_history.stack(),
        (-1, inputs.B, inputs.WIDTH, inputs.S),
    )
    return {
        "tokens": tf.transpose(outputs.predicted_ids, (0, 2, 1)),
        "scores": steps.scores,
        "parents": steps.parent_ids,
        "log_probs": state.log_probs,
        "lengths": state.lengths,
        "alignments": alignments,
        "sorted_alignments": tfa.seq2seq.gather_tree_from_array(
            alignments,
            tf.transpose(steps.parent_ids, (1, 0, 2)),
            state.lengths,
        ),
    }
