"""500 noisy pictures of 28 × 28 pixels denoised by mean field, ten sweeps: isinglass against a Python loop.

The loop is the lecture's algorithm as written: for each picture, sweep and pixel, add up the neighbours
and apply the sigmoid, on lists of Python floats. It visits the black squares of a checkerboard before the
white, as the library does, so that both have the same numbers after each sweep. Row by row it is equally
fast, and its decisions are compared too.

Pictures are random discs, or the rows of a table of 0 and 1: `--data FILE` (a first column `label` is left
out). Two percent of the pixels are flipped. What is timed: the library's call within a process, on all
cores and on one, against the loop; files and start are left out on both sides.
"""

import argparse
import math
import os
import random
import subprocess
import sys
import time
from pathlib import Path

from peer import ROOT, TARGET, WORK

SIDE = 28
PICTURES = 500
SWEEPS = 10
COUPLING = 0.7
FLIP = 0.02
DATA = 0.5 * math.log((1 - FLIP) / FLIP)
TARGET_RATIO = 100


def discs(source):
    """A few white discs on black."""
    found = [(source.randrange(SIDE), source.randrange(SIDE), source.randrange(2, 6)) for _ in range(4)]
    inside = lambda r, c: any((r - y) ** 2 + (c - x) ** 2 <= size * size for y, x, size in found)
    return [1 if inside(r, c) else -1 for r in range(SIDE) for c in range(SIDE)]


def from_table(path):
    """The rows of a CSV file as pictures."""
    lines = path.read_text().splitlines()
    skip = 1 if lines[0].startswith("label,") else 0
    return [[1 if cell == "1" else -1 for cell in line.split(",")[skip:]] for line in lines[1:]]


def checkerboard():
    return [(r, c) for parity in (0, 1) for r in range(SIDE) for c in range(SIDE) if (r + c) % 2 == parity]


def row_by_row():
    return [(r, c) for r in range(SIDE) for c in range(SIDE)]


def mean_field(seen, order):
    """The lecture's update, pixel by pixel."""
    x = [seen[r * SIDE : (r + 1) * SIDE] for r in range(SIDE)]
    pi = [[1 / (1 + math.exp(-2 * DATA * value)) for value in row] for row in x]
    for _ in range(SWEEPS):
        for r, c in order:
            p = DATA * x[r][c]
            for a, b in ((r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1)):
                if 0 <= a < SIDE and 0 <= b < SIDE:
                    p += COUPLING * (2 * pi[a][b] - 1)
            pi[r][c] = math.exp(p) / (math.exp(p) + math.exp(-p))
    return [1 if value >= 0.5 else -1 for row in pi for value in row]


def ours(noisy, threads):
    """The best time of the library's call, and its decisions."""
    program = TARGET / "release" / "denoise_many"
    pictures, decisions = WORK / "pictures.bin", WORK / "decisions.bin"
    pictures.write_bytes(bytes(1 if x == 1 else 0 for picture in noisy for x in picture))
    command = [program, pictures, str(SIDE), repr(COUPLING), repr(DATA), str(SWEEPS), decisions]
    environment = {**os.environ, "RAYON_NUM_THREADS": str(threads)}
    printed = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
    cells = decisions.read_bytes()
    size = SIDE * SIDE
    return float(printed), [[1 if x else -1 for x in cells[k : k + size]] for k in range(0, len(cells), size)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="a CSV file of 0 and 1, one picture in each row")
    options = parser.parse_args()
    source = random.Random(1)
    clean = from_table(options.data) if options.data else [discs(source) for _ in range(PICTURES)]
    noisy = [[-x if source.random() < FLIP else x for x in picture] for picture in clean]
    build = ["cargo", "build", "--release", "--quiet", "--package", "isinglass-benches", "--bin", "denoise_many"]
    subprocess.run(build, cwd=ROOT, check=True)
    WORK.mkdir(parents=True, exist_ok=True)

    start = time.perf_counter()
    plain = [mean_field(picture, checkerboard()) for picture in noisy]
    theirs = time.perf_counter() - start
    all_cores, decisions = ours(noisy, 0)
    one_core, again = ours(noisy, 1)
    in_rows = [mean_field(picture, row_by_row()) for picture in noisy]

    differ = lambda a, b: sum(x != y for p, q in zip(a, b, strict=True) for x, y in zip(p, q, strict=True))
    pixels = sum(len(picture) for picture in clean)
    before, after = (100 * differ(found, clean) / pixels for found in (noisy, decisions))
    print(f"{len(clean)} pictures of {SIDE} × {SIDE}, {SWEEPS} sweeps; wrong pixels {before:.2f} % before, {after:.2f} % after")
    print(f"decisions that differ from the loop's: {differ(decisions, plain)} of {pixels}; row by row: {differ(decisions, in_rows)}")
    print(f"Python loop              {theirs * 1e3:10.1f} ms")
    print(f"isinglass, one core      {one_core * 1e3:10.2f} ms  ratio {theirs / one_core:8.0f}")
    print(f"isinglass, all cores     {all_cores * 1e3:10.2f} ms  ratio {theirs / all_cores:8.0f}")
    reached = theirs / one_core >= TARGET_RATIO
    print(f"target {TARGET_RATIO} on one core: {'reached' if reached else 'missed'}")
    return 0 if reached and decisions == plain == again else 1


if __name__ == "__main__":
    sys.exit(main())
