"""Writes the lock file of each group of libraries: the newest versions that fit together, with the hashes of their wheels for
this platform and this Python. Run by scripts/newestclients and by hand, with pip in its newest version:

    python3 lock.py [GROUP ...]

A group is the path of a file without its ending, relative to this folder or absolute.
"""

import json
import pathlib
import subprocess
import sys

HEADER = """\
# {group}.in with what it needs, written by lock.py. Wheels of this platform: pip refuses others.
"""


def lock(group):
    here = pathlib.Path(__file__).parent
    options = [line for line in (here / f"{group}.in").read_text().splitlines() if line.startswith("--")]
    report = subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed", "--report", "-", "-r", here / f"{group}.in"],
        check=True, stdout=subprocess.PIPE).stdout
    lines = list(options)
    for item in json.loads(report)["install"]:
        name, version = item["metadata"]["name"].lower().replace("_", "-"), item["metadata"]["version"]
        lines.append(f"{name}=={version} --hash=sha256:{item['download_info']['archive_info']['hashes']['sha256']}")
    lines[len(options):] = sorted(lines[len(options):])
    (here / f"{group}.txt").write_text(HEADER.format(group=pathlib.Path(group).name) + "".join(line + "\n" for line in lines))


for group in sys.argv[1:] or sorted(path.stem for path in pathlib.Path(__file__).parent.glob("*.in")):
    lock(group)
