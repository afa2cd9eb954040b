"""Plant bugs one at a time in a copy of the project, run the nearest tests, print the survivors.

Mechanical bugs (a comparison inverted, a constant or a sign changed, a root or a factor dropped,
arguments swapped, a branch removed, ...) are a seeded sample; the realistic ones of planted.toml
are all planted. ``make mutants COUNT=200 SEED=7 ONLY="workflow/stage workflow/rules/score.smk"``.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
from collections import Counter
from pathlib import Path

import generate
import runner

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def main(words: list[str] | None = None, root: Path = ROOT, here: Path = HERE) -> int:
    """Return 0, or 1 if fewer are killed than asked for, or 2 if it cannot be told."""
    parser = argparse.ArgumentParser(prog="mutants", description=__doc__)
    parser.add_argument("--files", nargs="*", default=[], help="files or folders, all if none")
    parser.add_argument("--count", type=int, default=50, help="how many mechanical ones")
    parser.add_argument("--seed", type=int, default=1, help="which of them")
    parser.add_argument("--planted-only", action="store_true", help="those of planted.toml only")
    parser.add_argument("--mechanical-only", action="store_true", help="none of planted.toml")
    parser.add_argument("--id", action="append", default=[], help="plant this one, show its diff")
    parser.add_argument("--list", action="store_true", help="list them, run nothing")
    parser.add_argument("--at-least", type=float, help="share killed, in percent, or fail")
    parser.add_argument("--budget", type=float, default=60, help="seconds of tests for a mutant")
    given = parser.parse_args(words)
    try:
        mutants = chosen(given, root, here)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    source = {mutant.path: (root / mutant.path).read_bytes() for mutant in mutants}
    if given.id:
        print(*(mutant.diff(source[mutant.path]) for mutant in mutants), sep="\n")
    if given.list:
        for mutant in mutants:
            print(f"{mutant.name}  {mutant.brief(source[mutant.path])}")
        return 0
    results = []
    nearest = runner.Nearest(root, here / "nearest.toml", budget=given.budget)
    with tempfile.TemporaryDirectory(prefix="mutants-", ignore_cleanup_errors=True) as home:
        copies = runner.Copies(root, Path(home))
        try:
            runner.baseline(copies, nearest, mutants, limit=1800)
            for number, result in enumerate(runner.hunt(copies, nearest, mutants), start=1):
                results.append(result)
                what = result.mutant.brief(source[result.mutant.path])
                print(
                    f"{number}/{len(mutants)} {result.verdict:<8} {result.seconds:6.1f} s  "
                    f"{place(result, source)}  {what}" + (f"  [{result.by}]" if result.by else ""),
                    flush=True,
                )
        except RuntimeError as error:
            print(error, file=sys.stderr)
            return 2
    return told(results, source, given.at_least)


def chosen(given: argparse.Namespace, root: Path, here: Path) -> list[generate.Mutant]:
    """Return the mutants that are asked for; one that does not exist (any more) is an error."""
    realistic = [] if given.mechanical_only else generate.planted(root, here / "planted.toml")
    files = generate.sources(root)
    if given.id:
        paths = {name.split(":")[0] for name in given.id}
        some = [m for path in files if path in paths for m in generate.candidates(root, path)]
        by_name = {mutant.name: mutant for mutant in (*some, *realistic)}
        if missing := [name for name in given.id if name not in by_name]:
            raise ValueError(f"there is no mutant {missing[0]}")
        return [by_name[name] for name in given.id]
    wanted = tuple(f"{name.rstrip('/')}" for name in given.files)
    for name in wanted:
        if not any(path == name or path.startswith(f"{name}/") for path in files):
            raise ValueError(f"{name} is no file or folder of the workflow's code")

    def asked(path: str) -> bool:
        return not wanted or any(path == w or path.startswith(f"{w}/") for w in wanted)

    some = [m for m in realistic if asked(m.path)]
    if given.planted_only:
        return some
    mechanical = [m for path in filter(asked, files) for m in generate.candidates(root, path)]
    print(f"{given.count} of {len(mechanical)} mechanical mutants, seed {given.seed}", flush=True)
    return [*generate.sample(mechanical, given.count, given.seed), *some]


def place(result: runner.Result, source: dict[str, bytes]) -> str:
    """Return the name of a mutant, with its place if the name does not tell."""
    mutant = result.mutant
    if mutant.name.startswith(mutant.path):
        return mutant.name
    return f"{mutant.path}:{mutant.line(source[mutant.path])} {mutant.name}"


def told(results: list[runner.Result], source: dict[str, bytes], at_least: float | None) -> int:
    """Print the survivors and the share killed; return the exit code."""
    survivors = [result for result in results if result.verdict == "survived"]
    for result in survivors:
        mutant = result.mutant
        changed = [
            line for line in mutant.diff(source[mutant.path]).splitlines()[2:] if line[0] in "-+"
        ]
        print(f"survived {place(result, source)}\n  " + "  ".join(changed))
    count = Counter(result.verdict for result in results)
    share = 100 * (1 - len(survivors) / len(results)) if results else 100.0
    print(
        f"{len(results)} mutants: {count['killed']} killed, {count['timeout']} killed by timeout "
        f"(a test hung), {count['survived']} survived; {share:.1f} % killed"
    )
    return int(at_least is not None and share < at_least)


if __name__ == "__main__":
    # a polite kill ends the tests that are running too, and removes the copies
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))
    sys.exit(main())
