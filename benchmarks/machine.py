"""What a result was measured on."""

import datetime
import importlib.metadata
import os
import platform
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGES = ("tensorflow", "keras", "numpy", "torch")

#: Instruction sets that matrix products and exponentials are fast by.
INSTRUCTIONS = (
    "avx2",
    "fma",
    "avx512f",
    "avx512_vnni",
    "avx512_bf16",
    "avx512_fp16",
    "amx_tile",
    "amx_bf16",
    "asimd",
    "sve",
    "bf16",
)

#: What may differ between two runs that belong into one file.
MAY_DIFFER = ("load", "date")


def facts() -> dict[str, object]:
    """Processor, threads, load, versions, commit and date."""
    return {
        "processor": _processor(),
        "instructions": _instructions(),
        "cores": _cores(),
        "threads": _threads(),
        "load": [round(load, 2) for load in os.getloadavg()],
        "system": platform.platform(),
        "python": platform.python_version(),
        **{name: _version(name) for name in PACKAGES},
        "commit": _commit(),
        "date": datetime.datetime.now(datetime.UTC).isoformat("T", "seconds"),
    }


def _processor() -> str:
    """Its name; with the numbers of its kind, which a name may leave out."""
    kind = [
        f"{entry} {number}"
        for entry in ("cpu family", "model")
        if (number := _cpuinfo(entry))
    ]
    return ", ".join([_cpuinfo("model name") or platform.processor(), *kind])


def _cores() -> int | None:
    """Those that this process may use."""
    if hasattr(os, "sched_getaffinity"):  # Not everywhere.
        return len(os.sched_getaffinity(0))
    return os.cpu_count()


def _threads() -> dict[str, int]:
    """Threads as the libraries use them; 0 of TensorFlow is one per core."""
    import tensorflow as tf

    threading = tf.config.threading
    threads = {
        "tensorflow_intra_op": threading.get_intra_op_parallelism_threads(),
        "tensorflow_inter_op": threading.get_inter_op_parallelism_threads(),
    }
    if "torch" in sys.modules:  # Only where a benchmark uses it.
        threads["torch"] = sys.modules["torch"].get_num_threads()
    return threads


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _commit() -> str | None:
    """The commit of this repository, marked where files differ from it."""
    described = subprocess.run(
        ["git", "describe", "--always", "--dirty", "--abbrev=12"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    return described.stdout.strip() or None


def _instructions() -> list[str]:
    flags = (_cpuinfo("flags") or _cpuinfo("Features") or "").split()
    return [name for name in INSTRUCTIONS if name in flags]


def _cpuinfo(entry: str) -> str | None:
    """A line of the first processor, of Linux."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    for line in lines:
        name, _, value = line.partition(":")
        if name.strip() == entry:
            return value.strip()
    return None
