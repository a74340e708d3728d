"""What a result was measured on."""

import datetime
import importlib.metadata
import os
import platform
from pathlib import Path

PACKAGES = ("tensorflow", "keras", "numpy")


def facts() -> dict[str, object]:
    """Processor, cores, load, versions and date."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "load": [round(load, 2) for load in os.getloadavg()],
        "system": platform.platform(),
        "python": platform.python_version(),
        **{name: importlib.metadata.version(name) for name in PACKAGES},
        "date": datetime.datetime.now(datetime.UTC).isoformat("T", "seconds"),
    }


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()
