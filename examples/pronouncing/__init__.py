"""The parts of `examples/pronounce.py`.

dictionary    words and their pronunciations; the split; the vocabulary
batches       padded batches of similar length
mechanisms    which attention `--attention` stands for
network       the training model, and the step model out of its layers
training      fit: learning rate, Ctrl-C, best and latest state
decoding      the greedy loop over the step model
scoring       phoneme and word error rates; how straight an alignment is
picture       letters x phonemes
run           the files of the run folder
saved_model   export, and the check in a process without Keras
"""
