"""Comparing two facts, kept out of training: recall both, then compare or subtract."""

# ruff: noqa: E501 (one template a line)

from podium.gym.templates.template import template as t

TEMPLATES = (
    t("How many more protons than an atom of {e} has {a} atoms' worth of {g} together?", "a * atomic_number(g) - atomic_number(e)", e="atomic_number", g="atomic_number", a=(42, 95)),
    t("By how much do the atomic numbers of {e} and {g} differ?", "abs(atomic_number(e) - atomic_number(g))", e="atomic_number", g="atomic_number"),
    t("Of {e} and {g}, which element has the higher atomic number?", "e if atomic_number(e) > atomic_number(g) else g", e="atomic_number", g="atomic_number"),
    t("Do {a} {e} or {b} {g} have more legs, and by how many? Give the difference only.", "abs(a * legs(e) - b * legs(g))", e="legs", g="legs", a=(12, 58), b=(13, 57)),
    t("{name} compares the legs of {a} {e} with the legs of {b} {g}. What is the larger number?", "max(a * legs(e), b * legs(g))", e="legs", g="legs", a=(11, 46), b=(12, 45)),
    t("Which animals have fewer legs each, {e} or {g}?", "e if legs(e) < legs(g) else g", e="legs", g="legs"),
    t("Two yards are shaped like a {e} and a {g}, with posts every metre: {a} per side and {b} per side. By how many posts do they differ?", "abs(a * sides(e) - b * sides(g))", e="sides", g="sides", a=(12, 66), b=(11, 67)),
    t("Which of two shapes has more sides, the {e} or the {g}?", "e if sides(e) > sides(g) else g", e="sides", g="sides"),
    t("A wire frames {a} copies of a {e} or {b} copies of a {g}. How many sides has the smaller set?", "min(a * sides(e), b * sides(g))", e="sides", g="sides", a=(13, 48), b=(12, 49)),
    t("Compare {a} full sides of {e} with {b} full sides of {g}. What is the difference in players?", "abs(a * players(e) - b * players(g))", e="players", g="players", a=(8, 39), b=(9, 38)),
    t("Which game puts fewer players of one team on the field, {e} or {g}?", "e if players(e) < players(g) else g", e="players", g="players"),
    t("A bus takes either {a} full sides of {e} or {b} full sides of {g}. How many seats must it have for the larger group?", "max(a * players(e), b * players(g))", e="players", g="players", a=(3, 18), b=(4, 17)),
    t("{a} instruments of the kind {e} and {b} of the kind {g} are restrung. How many strings apart are the two orders?", "abs(a * strings(e) - b * strings(g))", e="strings", g="strings", a=(12, 48), b=(11, 49)),
    t("Which instrument carries more strings, the {e} or the {g}?", "e if strings(e) > strings(g) else g", e="strings", g="strings"),
    t("How far apart are the number of {e} and the number of {g}, times {a}?", "abs(count(e) - count(g)) * a", e="count", g="count", a=(6, 19)),
    t("Which is the greater count: {e}, or {g}?", "e if count(e) > count(g) else g", e="count", g="count"),
    t("{name} has {a} sets of the {e} and {other} has {b} sets of the {g}. What is the bigger total?", "max(a * count(e), b * count(g))", e="count", g="count", a=(4, 27), b=(5, 26)),
    t("By how many days do {e} and {g} differ if each is repeated {a} times?", "abs(days_in(e) - days_in(g)) * a", e="days_in", g="days_in", a=(7, 48)),
    t("Which of the two months lasts longer, {e} or {g}?", "e if days_in(e) > days_in(g) else g", e="days_in", g="days_in"),
    t("{a} visitors come on each day of {e} and {b} on each day of {g}. What is the gap between the two crowds?", "abs(a * days_in(e) - b * days_in(g))", e="days_in", g="days_in", a=(12, 44), b=(13, 43)),
    t("Between {a} atoms of {e} and {b} atoms of {g}, how many protons has the group with fewer?", "min(a * atomic_number(e), b * atomic_number(g))", e="atomic_number", g="atomic_number", a=(6, 24), b=(7, 23)),
    t("Of {e} and {g}, which comes earlier in the periodic table?", "e if atomic_number(e) < atomic_number(g) else g", e="atomic_number", g="atomic_number"),
    t("{name} scores {a} for each leg of the {e} and {other} scores {b} for each leg of the {g}, one animal each. What is the score gap?", "abs(a * legs(e) - b * legs(g))", e="legs", g="legs", a=(13, 64), b=(12, 65)),
    t("A gate counts legs: {a} {e} pass, then {b} {g}. What was the smaller of the two counts?", "min(a * legs(e), b * legs(g))", e="legs", g="legs", a=(12, 55), b=(11, 56)),
    t("A mosaic needs {a} pieces per side. How many more pieces or fewer does a {e} take than a {g}? Give the plain difference.", "a * abs(sides(e) - sides(g))", e="sides", g="sides", a=(23, 97)),
    t("What is the larger of {a} minus the sides of a {e} and {b} minus the sides of a {g}?", "max(a - sides(e), b - sides(g))", e="sides", g="sides", a=(32, 98), b=(31, 99)),
    t("Two leagues field {a} teams of {e} and {b} teams of {g}. How many players are in the smaller league, on the field at once?", "min(a * players(e), b * players(g))", e="players", g="players", a=(8, 32), b=(7, 33)),
    t("Between the {e} and the {g}, which has the smaller number of strings?", "e if strings(e) < strings(g) else g", e="strings", g="strings"),
    t("Strings cost {a} cents. How many cents more or fewer does a set for the {e} cost than a set for the {g}?", "a * abs(strings(e) - strings(g))", e="strings", g="strings", a=(35, 180)),
    t("What remains when the smaller of the number of {e} and the number of {g} is taken from {a}?", "a - min(count(e), count(g))", e="count", g="count", a=(215, 480)),
    t("A chart shows {a} bars for the {e} and {b} bars for the {g}, each as tall as the count it stands for. How far apart are the two totals?", "abs(a * count(e) - b * count(g))", e="count", g="count", a=(3, 28), b=(4, 27)),
    t("Does {e} have more days than {g}? Name the one that has more.", "e if days_in(e) > days_in(g) else g", e="days_in", g="days_in"),
    t("{name} saves {a} coins a day in {e}, {other} {b} coins a day in {g}. How many coins has the one with more?", "max(a * days_in(e), b * days_in(g))", e="days_in", g="days_in", a=(7, 38), b=(8, 37)),
    t("Add {a} to the atomic number of {e} and {b} to that of {g}. By how much do the sums differ?", "abs(a + atomic_number(e) - (b + atomic_number(g)))", e="atomic_number", g="atomic_number", a=(12, 98), b=(13, 97)),
    t("A nurse counts {a} {e}, a warden {b} {g}. Whose animals have more legs in sum, and what is that sum? Give the sum.", "max(a * legs(e), b * legs(g))", e="legs", g="legs", a=(14, 68), b=(15, 69)),
    t("Which element has fewer protons per atom, {e} or {g}?", "e if atomic_number(e) < atomic_number(g) else g", e="atomic_number", g="atomic_number"),
)  # fmt: skip
