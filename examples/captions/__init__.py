"""The parts of `examples/translate.py`.

multi30k        the files: their address and checksums, their sentences
vocabulary      words as integers; unknown words
settings        what a run is asked for
network         the model, and the lengths of its batches
translator      sentences in, translations and alignments out
scoring         BLEU, and what unknown words mean for it
report          figures, samples, picture, SavedModel
decode_saved_model    copied into the run folder
"""
