"""The parts of `examples/pronounce.py`.

dictionary    words and their pronunciations; the split; the vocabulary
mechanisms    which attention `--attention` stands for
network       the model, new or reloaded, and the pairs it learns from
speaking      words in, phonemes and alignments out
scoring       phoneme and word error rates; how straight an alignment is
settings      what a run is asked for
"""
