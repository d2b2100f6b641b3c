"""What the comparisons share: a virtual environment, the built program, timing."""

import os
import statistics
import subprocess
import sys
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "target" / "peers"


def inside_environment(*packages):
    """Run the calling script again inside a virtual environment that has the packages."""
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
    return ROOT / "target" / "release" / "isinglass"


def median_seconds(work, repeats):
    """The median time of some runs, after one that is not counted; and what the last run returned."""
    result = work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - start)
    return statistics.median(times), result
