"""What the examples with an encoder and a decoder share.

symbols       letters, phonemes or words as integers
batches       padded batches of similar length
splitting     train, dev and test by a hash of each name
training      learning rate, Ctrl-C, best and latest state
learning      a training, new or resumed
generating    what a trained model writes
alignments    pictures of what each token attends to
saved_model   export, and what TensorFlow alone makes of it
settings      the options of a command line
run           the files of a run folder
"""
