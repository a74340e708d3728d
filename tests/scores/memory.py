"""The query and the keys that every score is worked out for."""

import numpy as np

QUERY = np.array([[[1.0, 0.5, -1.0]]], "float32")
KEYS = np.array([[[1, 0, 0], [0, 2, 0], [1, 1, 1]]], "float32")
