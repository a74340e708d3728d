"""What the examples with an encoder and a decoder share.

symbols       letters, phonemes or words as integers
batches       padded batches of similar length
training      learning rate, Ctrl-C, best and latest state
alignments    pictures of what each token attends to
"""
