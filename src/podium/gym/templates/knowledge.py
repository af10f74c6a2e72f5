"""Facts plus arithmetic: read the question into an expression, recall what it leaves unsaid, compute it."""

# ruff: noqa: E501 (one template a line)

from podium.gym.templates.template import template as t

TEMPLATES = (
    t("How many legs do {a} {e} have altogether if {b} legs are hidden from view and not counted?", "a * legs(e) - b", e="legs", a=(13, 58), b=(7, 24)),
    t("A terrarium holds {a} {e} and a second one holds {b} {e}. How many legs are there in both?", "(a + b) * legs(e)", e="legs", a=(11, 48), b=(12, 49)),
    t("{name} draws {a} {e} and then counts all their legs plus {b} dots. What is the count?", "a * legs(e) + b", e="legs", a=(12, 47), b=(13, 88)),
    t("In a meadow there are {a} {e} and {b} {g}. How many legs do they have in total?", "a * legs(e) + b * legs(g)", e="legs", g="legs", a=(7, 29), b=(6, 28)),
    t("{name} makes {a} paper shapes, each a regular {e}, and marks every side with {b} stars. How many stars are drawn?", "a * sides(e) * b", e="sides", a=(6, 24), b=(3, 14)),
    t("A fence is built of {a} panels for each side of a yard shaped like a {e}, plus {b} spare panels. How many panels are needed?", "a * sides(e) + b", e="sides", a=(12, 68), b=(11, 45)),
    t("Each side of a {e} is {a} centimetres long, and all sides are equal. A wire of {b} centimetres is bent round it once. How much wire is left in centimetres?", "b - a * sides(e)", e="sides", a=(11, 34), r=(12, 95), b="=34 * 12 + r"),
    t("{name} adds the atomic number of {e} to {a} and multiplies the sum by {b}. What is the result?", "(atomic_number(e) + a) * b", e="atomic_number", a=(13, 67), b=(3, 12)),
    t("A sample holds {a} atoms of {e} and {b} free protons. How many protons are in the sample?", "a * atomic_number(e) + b", e="atomic_number", a=(6, 24), b=(12, 76)),
    t("A puzzle tells {name} to multiply the atomic number of {e} by {a} and take away the atomic number of {g}. What should {name} get?", "a * atomic_number(e) - atomic_number(g)", e="atomic_number", g="atomic_number", a=(7, 19)),
    t("{a} atoms of {e} are joined to {b} atoms of {g}. How many protons does the cluster have?", "a * atomic_number(e) + b * atomic_number(g)", e="atomic_number", g="atomic_number", a=(3, 17), b=(4, 16)),
    t("A tournament of {e} has {a} teams on the field with full sides, and {b} referees. How many people are on the field?", "a * players(e) + b", e="players", a=(8, 32), b=(11, 29)),
    t("A town sends {a} full sides to a day of {e}, and {b} players fall ill. How many can play?", "a * players(e) - b", e="players", a=(9, 34), b=(7, 26)),
    t("{name} buys shirts for {a} full sides of {e} at {b} dollars a shirt. How many dollars is that?", "a * players(e) * b", e="players", a=(3, 12), b=(13, 29)),
    t("{name} restrings {a} instruments of the kind {e} and has {b} strings to spare. How many strings did {name} buy?", "a * strings(e) + b", e="strings", a=(12, 44), b=(7, 36)),
    t("An orchestra owns {a} pieces of the instrument {e}, and each string costs {b} dollars. What does a full set for all of them cost?", "a * strings(e) * b", e="strings", a=(4, 15), b=(6, 18)),
    t("{name} writes down the number of {e}, multiplies it by {a} and adds {b}. Which number is on the paper?", "count(e) * a + b", e="count", a=(6, 18), b=(13, 95)),
    t("Take {a} times the number of {e} and subtract {b}. What do you get?", "a * count(e) - b", e="count", a=(13, 39), b=(11, 46)),
    t("A code is the number of {e} plus the number of {g}, all multiplied by {a}. What is the code?", "(count(e) + count(g)) * a", e="count", g="count", a=(4, 17)),
    t("{name} has {a} stickers and needs one for each of the {e} in {b} copies of a poster. How many stickers will be left?", "a - b * count(e)", e="count", b=(3, 14), r=(17, 140), a="=206 * b + r"),
    t("How many more than {a} is {b} times the number of {e}?", "b * count(e) - a", e="count", a=(9, 38), b=(12, 33)),
    t("A museum counts {a} visitors on every day of {e} and {b} on the day after. How many visitors is that?", "a * days_in(e) + b", e="days_in", a=(14, 76), b=(35, 160)),
    t("{name} drinks {a} cups of tea a day throughout {e} but skips {b} cups. How many cups is that?", "a * days_in(e) - b", e="days_in", a=(5, 16), b=(7, 29)),
    t("A plant grows {a} millimetres a day during {e}, starting from {b} millimetres. How tall is it in millimetres at the end?", "b + a * days_in(e)", e="days_in", a=(4, 17), b=(38, 190)),
    t("A lamp burns {a} hours each day of {e} and {b} hours each day of {g}. How many hours does it burn?", "a * days_in(e) + b * days_in(g)", e="days_in", g="days_in", a=(3, 14), b=(4, 13)),
    t("A zoo moves {a} {e} in crates of {b}, and every leg gets a tag. How many tags are used for {c} full crates?", "b * c * legs(e)", e="legs", a=(220, 480), b=(4, 13), c=(5, 16)),
    t("{name} sees {a} {e} and {other} sees {b} fewer. How many legs did {other} see?", "(a - b) * legs(e)", e="legs", b=(8, 26), r=(13, 44), a="=b + r"),
    t("A model of one {e} uses {a} sticks for every side and {b} sticks for the stand. How many sticks do {c} models use?", "(a * sides(e) + b) * c", e="sides", a=(3, 9), b=(4, 13), c=(6, 16)),
    t("The corners of {a} tables shaped like a {e} are padded, and {b} pads are kept in reserve. A table has as many corners as sides. How many pads are there?", "a * sides(e) + b", e="sides", a=(13, 52), b=(12, 41)),
    t("A quiz gives {a} points for each proton of {e}, less {b} points for being late. How many points are won?", "a * atomic_number(e) - b", e="atomic_number", a=(12, 27), b=(6, 19)),
    t("{name} pairs {a} atoms of {e} with {b} atoms of the same element. How many protons are there?", "(a + b) * atomic_number(e)", e="atomic_number", a=(7, 23), b=(8, 24)),
    t("A coach books {a} seats for {b} full sides of {e}. How many seats stay empty?", "a - b * players(e)", e="players", b=(4, 14), r=(13, 85), a="=15 * b + r"),
    t("A shop packs {a} strings in a bag and opens {b} bags to restring {c} instruments of the kind {e}. How many strings are over?", "a * b - c * strings(e)", e="strings", a=(52, 96), b=(11, 18), c=(4, 11)),
    t("{name} glues one bead on each of the {e} and {a} beads on the frame, then repeats it {b} times in all. How many beads are used?", "(count(e) + a) * b", e="count", a=(12, 48), b=(4, 13)),
    t("A baker makes {a} loaves a day in {e}, and sells all but {b}. How many loaves are sold?", "a * days_in(e) - b", e="days_in", a=(13, 46), b=(12, 68)),
    t("The number of {e} is taken from {a}, and the rest is multiplied by {b}. What comes out?", "(a - count(e)) * b", e="count", a=(225, 430), b=(3, 9)),
)  # fmt: skip
