"""tensorflow-addons, run in a process where `keras` means `tf_keras`."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
