#!/usr/bin/env python3
"""Fits P(right): the weights of agent/src/probability/weights.json.

  scripts/fit-probability.py RESULTS.jsonl.. [--figures NAME,NAME..] [--write]

RESULTS are the lines that `make judge-bench` writes: patches that are known to be
right or wrong ("patch" begins with either word), each with the figures of its
evidence ("features"). Those that the stored weights were fitted to lie beside them
(judged.jsonl). Every case, and every project, is left out once: the tables show how
well the others predict it. With --write the weights fitted on all of them are stored.
"""
import json
import math
import pathlib
import sys

WEIGHTS = pathlib.Path(__file__).parent.parent / "agent/src/probability/weights.json"
# Few patches: the penalty keeps weights small that few patches support.
PENALTY = 3.0
FEWEST = 20
# What some fifty patches support: whether a rung refutes the patch or is open, and how many
# inputs that a model wrote against it both programs were run on. With all figures other cases
# are predicted worse than by the bare share of right patches.
FIGURES = "refuted,open rungs,challenges"


def rows(files, figures):
    for file in files:
        for line in pathlib.Path(file).read_text().splitlines():
            row = json.loads(line)
            if row.get("features"):
                kept = {name: value for name, value in row["features"].items() if name in figures}
                yield row["case"], row["patch"].startswith("right"), kept


def project(case):
    """Cases of one project are alike: "xml-gh-491" and "xml-commit-a820dbe"."""
    return case.split("-")[0]


def scales(data):
    names = sorted(data[0][2])
    table = {}
    for name in names:
        values = [figures.get(name, 0.0) for _, _, figures in data]
        mean = sum(values) / len(values)
        deviation = math.sqrt(sum((value - mean) ** 2 for value in values) / len(values))
        if deviation > 1e-9:
            table[name] = (mean, deviation, max(values))
    return table


def fit(data):
    """Returns the intercept and the weights by name, by gradient descent."""
    table = scales(data)
    points = [
        ([(figures.get(name, mean) - mean) / scale for name, (mean, scale, _) in table.items()], float(right))
        for _, right, figures in data
    ]
    intercept, weights = 0.0, [0.0] * len(table)
    step = 0.5
    for _ in range(4000):
        slope, slopes = 0.0, [PENALTY * weight / len(points) for weight in weights]
        for figures, right in points:
            error = chance(intercept + sum(w * x for w, x in zip(weights, figures))) - right
            slope += error / len(points)
            for at, figure in enumerate(figures):
                slopes[at] += error * figure / len(points)
        intercept -= step * slope
        weights = [weight - step * slope for weight, slope in zip(weights, slopes)]
    named = [
        {"name": name, "mean": mean, "scale": scale, "most": most, "weight": weight}
        for (name, (mean, scale, most)), weight in zip(table.items(), weights)
    ]
    return {"intercept": intercept, "features": named}


def chance(odds):
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, odds))))


def predict(model, figures):
    odds = model["intercept"]
    for one in model["features"]:
        # Nothing is known of figures beyond those that were judged.
        figure = min(figures.get(one["name"], one["mean"]), one["most"])
        odds += one["weight"] * (figure - one["mean"]) / one["scale"]
    return chance(odds)


def held_out(data, group):
    """Predicts each group of cases by a model that was fitted without it."""
    predicted = []
    for left_out in sorted({group(case) for case, _, _ in data}):
        others = [row for row in data if group(row[0]) != left_out]
        if len({right for _, right, _ in others}) < 2:
            continue
        model = fit(others)
        predicted += [
            (predict(model, figures), right) for case, right, figures in data if group(case) == left_out
        ]
    return predicted


def show(title, predicted):
    if not predicted:
        print(f"{title}: nothing to predict (one project, or one kind of patch)")
        return
    brier = sum((p - right) ** 2 for p, right in predicted) / len(predicted)
    share = sum(right for _, right in predicted) / len(predicted)
    pairs = [(p, q) for p, right in predicted if right for q, other in predicted if not other]
    order = sum((p > q) + 0.5 * (p == q) for p, q in pairs) / max(len(pairs), 1)
    print(f"{title}: {len(predicted)} patches, Brier {brier:.3f} (the share of right ones alone: {share * (1 - share):.3f}), AUC {order:.2f}")
    print("  predicted   patches  right")
    for low in range(0, 100, 20):
        inside = [right for p, right in predicted if low <= 100 * p < low + 20 or (low == 80 and p == 1)]
        if inside:
            print(f"  {low:3}-{low + 20:3} %  {len(inside):7}  {100 * sum(inside) / len(inside):4.0f} %")


def main():
    words = sys.argv[1:]
    figures = FIGURES
    if "--figures" in words:
        at = words.index("--figures")
        figures = words[at + 1]
        del words[at : at + 2]
    files = [word for word in words if not word.startswith("--")]
    data = list(rows(files, figures.split(",")))
    if len(data) < FEWEST or len({right for _, right, _ in data}) < 2:
        sys.exit(f"{len(data)} judged patches with figures are too few: at least {FEWEST}, right and wrong ones")
    model = fit(data)
    show("each case left out", held_out(data, lambda case: case))
    show("each project left out", held_out(data, project))
    show("on the patches that it was fitted to", [(predict(model, figures), right) for _, right, figures in data])
    for one in sorted(model["features"], key=lambda one: -abs(one["weight"])):
        print(f"  {one['weight']:+.2f}  {one['name']}")
    if "--write" in sys.argv:
        counts = {"right": sum(right for _, right, _ in data), "wrong": sum(not right for _, right, _ in data)}
        stored = {"made_by": "scripts/fit-probability.py", "fitted_on": counts, **model}
        WEIGHTS.write_text(json.dumps(stored, indent=2) + "\n")


main()
