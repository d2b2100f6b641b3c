"""Shared by the comparisons: a virtual environment, the built program and benchmarks, one core, timing, memory."""

import json
import math
import os
import statistics
import subprocess
import sys
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / os.environ.get("CARGO_TARGET_DIR", "target")
WORK = TARGET / "peers"


def inside_environment(*packages):
    """Runs the calling script again inside a virtual environment that has the packages."""
    home = WORK / "venv"
    python = home / "bin" / "python"
    if Path(sys.prefix).resolve() == home.resolve():
        return
    if not python.exists():
        venv.create(home, with_pip=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages], check=True)
    os.execv(python, [str(python), *sys.argv])


def isinglass():
    """The path of the release build of the program."""
    subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=ROOT, check=True)
    return TARGET / "release" / "isinglass"


def benchmark_seconds(name_part):
    """The median times of our benchmarks whose names contain a text: computation alone, without files."""
    subprocess.run(["cargo", "xtask", "bench", name_part], cwd=ROOT, check=True, capture_output=True)
    found = json.loads((TARGET / "bench.json").read_text())
    return {result["name"]: result["nanoseconds"] / 1e9 for result in found}


def on_one_core():
    """Limits this process and the programs that it starts to one core; to be called before peers are imported."""
    os.environ.update(OMP_NUM_THREADS="1", RAYON_NUM_THREADS="1")
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def seconds(work, repeats, choose=statistics.median, patience=math.inf):
    """Returns a time chosen from those of some runs, after a warm-up, and the result of the last run.

    No run starts after `patience` seconds in all; if only the warm-up ran, it counts.
    """
    times = []
    while len(times) <= repeats and sum(times) <= patience:
        start = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - start)
    return choose(times[1:] or times), result


def peak_bytes(command):
    """Returns the peak memory of a program run.

    It is started from a small process: a child's figure is never below that of its parent.
    """
    watch = (
        "import resource, subprocess, sys\n"
        "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    found = subprocess.run([sys.executable, "-c", watch, *command], check=True, capture_output=True)
    return int(found.stdout) * (1 if sys.platform == "darwin" else 1024)
