"""drive.py HARNESS TREE SEEDS SECONDS FOUND: mutates the seeds until run() raises; keeps that input and dies of it."""
import importlib.util, random, sys, time
from pathlib import Path

harness, tree, seeds, seconds, found = sys.argv[1:]
sys.path.insert(0, tree)
sys.setrecursionlimit(1000)
spec = importlib.util.spec_from_file_location("harness", harness)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
corpus = [p.read_text() for p in sorted(Path(seeds).iterdir())]
rng = random.Random(1)


def mutate():
    text = rng.choice(corpus)
    for _ in range(rng.randint(1, 4)):
        at = rng.randint(0, len(text))
        kind = rng.randint(0, 3)
        if kind == 0:
            text = text[:at] + rng.choice("{}[]()<>\"',:;&|*-+!?#%@\\/=. \n\t0`_~^$") + text[at + 1:]
        elif kind == 1:
            text = text[:at] + text[at + rng.randint(1, 12):]
        elif kind == 2:
            text = text[:at] + text[max(0, at - rng.randint(1, 12)):]
        else:
            other = rng.choice(corpus)
            start = rng.randint(0, len(other))
            text = text[:at] + other[start:start + rng.randint(1, 20)] + text[at:]
    return text


end = time.monotonic() + float(seconds)
n = 0
while n < len(corpus) or time.monotonic() < end:
    text = corpus[n] if n < len(corpus) else mutate()
    n += 1
    try:
        module.run(text)
    except BaseException:
        Path(found).write_text(text)
        raise
