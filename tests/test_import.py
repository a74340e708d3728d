"""What `import keras_attention` costs beside `import keras`."""

import subprocess
import sys

NEW_MODULES = """
import sys
import keras
before = set(sys.modules)
import keras_attention
print(*sorted(set(sys.modules) - before))
"""


def test_import_brings_in_nothing_but_the_package():
    done = subprocess.run(
        [sys.executable, "-c", NEW_MODULES],
        capture_output=True,
        text=True,
        check=True,
    )
    new = {name.partition(".")[0] for name in done.stdout.split()}
    assert new - set(sys.stdlib_module_names) == {"keras_attention"}
