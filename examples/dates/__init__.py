"""The parts of `examples/translate_dates.py`.

styles          languages, and how each of them writes dates
readings        which dates a string can mean
strings         days and their strings: train, dev, test
vocabulary      characters as integers
settings        what a run is asked for
network         the model, and the pairs it learns from
translator      strings in, ISO dates and alignments out
scoring         exact match, by language too
decode_saved_model    copied into the run folder
"""
