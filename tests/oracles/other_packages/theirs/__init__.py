"""Models of `tensorflow.keras`, which the environment makes Keras 2 or 3."""
