"""Things that are counted in units: read the question, recall a fact of nature and a unit, compute."""

# ruff: noqa: E501 (one template a line)

from podium.gym.templates.template import template as t

TEMPLATES = (
    t("A farm orders {a} times one {u} of {e}, and {b} legs are hidden behind a fence. How many legs can be seen?", "a * pieces_in(u) * legs(e) - b", e="legs", u="pieces_in", a=(3, 9), b=(5, 23)),
    t("A shop sells {e} by the {u}. {name} takes home {a} times one {u} of them. How many legs walk along?", "a * pieces_in(u) * legs(e)", e="legs", u="pieces_in", a=(3, 17)),
    t("In a cage there is one {u} of {e} and {b} more {e} arrive. How many legs is that in all?", "(pieces_in(u) + b) * legs(e)", e="legs", u="pieces_in", b=(4, 27)),
    t("{name} packs {a} atoms of {e} together with one {u} of loose protons. How many protons are in the pack?", "a * atomic_number(e) + pieces_in(u)", e="atomic_number", u="pieces_in", a=(4, 19)),
    t("A laboratory counts atoms of {e} by the {u} and has {a} times one {u} of them. How many protons is that?", "a * pieces_in(u) * atomic_number(e)", e="atomic_number", u="pieces_in", a=(2, 6)),
    t("From a box with one {u} of {e} atoms {b} protons are knocked out. How many protons stay in the box?", "pieces_in(u) * atomic_number(e) - b", e="atomic_number", u="pieces_in", b=(1, 3)),
    t("Every minute for {a} times one {u} a gate lets one of the {e} through. How many legs pass the gate?", "a * minutes_in(u) * legs(e)", e="legs", u="minutes_in", a=(2, 7)),
    t("A camera snaps one of the {e} each hour during {a} times one {u}. How many legs are on the snaps altogether?", "a * hours_in(u) * legs(e)", e="legs", u="hours_in", a=(2, 9)),
    t("A beam fires one atom of {e} each hour for one {u}, and {b} loose protons besides. How many protons fly?", "hours_in(u) * atomic_number(e) + b", e="atomic_number", u="hours_in", b=(7, 48)),
    t("A breeder hatches {a} {e} in each of the months of one {u}. How many legs is that at the end of the {u}?", "months_in(u) * a * legs(e)", e="legs", u="months_in", a=(3, 14)),
    t("A stock of {e} grows by {a} in every month of one {u} and stood at {b} animals before. How many legs does it have after that {u}?", "(months_in(u) * a + b) * legs(e)", e="legs", u="months_in", a=(3, 12), b=(5, 29)),
    t("A collector adds {a} atoms of {e} per month over one {u}. How many protons does the collection gain in the {u}?", "months_in(u) * a * atomic_number(e)", e="atomic_number", u="months_in", a=(2, 7)),
    t("A column of {e} is one {u} long, with one animal on every inch. How many legs march along?", "inches_in(u) * legs(e)", e="legs", u="inches_in"),
    t("On each inch of a shelf of {a} times one {u} sits one of the {e}. How many legs are on the shelf?", "a * inches_in(u) * legs(e)", e="legs", u="inches_in", a=(2, 8)),
    t("A wire of one {u} carries {a} atoms of {e} on every foot. How many protons sit on the wire?", "feet_in(u) * a * atomic_number(e)", e="atomic_number", u="feet_in", a=(2, 8)),
    t("Along a wall of {a} times one {u} there is one of the {e} to every foot. How many legs cling to the wall?", "a * feet_in(u) * legs(e)", e="legs", u="feet_in", a=(2, 6)),
    t("One ounce of bait feeds {a} {e}. How many legs are fed by a sack of one {u} of bait?", "ounces_in(u) * a * legs(e)", e="legs", u="ounces_in", a=(2, 9)),
    t("Each ounce in a parcel of one {u} costs as many cents as the atomic number of {e}, and the stamp {b} cents more. What does it cost in cents?", "ounces_in(u) * atomic_number(e) + b", e="atomic_number", u="ounces_in", b=(12, 88)),
    t("{name} pays one cent for each leg and hands over {a} times one {u}. How many cents are left after buying one of the {e}?", "a * cents_in(u) - legs(e)", e="legs", u="cents_in", a=(3, 18)),
    t("A toy of one of the {e} costs {b} cents for each leg. How many such cents stay of {a} times one {u}?", "a * cents_in(u) - b * legs(e)", e="legs", u="cents_in", a=(14, 38), b=(2, 4)),
    t("{name} earns one {u} for every proton in an atom of {e}, and {b} cents on top. How many cents is that?", "cents_in(u) * atomic_number(e) + b", e="atomic_number", u="cents_in", b=(6, 75)),
    t("One pint of paint marks {a} legs. How many legs stay unmarked when one {u} of paint is used on {b} {e}?", "b * legs(e) - pints_in(u) * a", e="legs", u="pints_in", a=(1, 2), b=(72, 98)),
    t("A feeder of one {u} gives every pint to {a} {e}. How many legs gather around the feeder?", "pints_in(u) * a * legs(e)", e="legs", u="pints_in", a=(3, 15)),
    t("A tube of one {u} holds {a} atoms of {e} in each pint of water. How many protons of it are in the tube?", "pints_in(u) * a * atomic_number(e)", e="atomic_number", u="pints_in", a=(2, 9)),
    t("A counter ticks once for each leg of one of the {e} and once for each year of one {u}. Where does it stand after {a} rounds?", "a * (legs(e) + years_in(u))", e="legs", u="years_in", a=(3, 12)),
    t("A nest lasts one {u}, and each year {a} new {e} leave it. How many legs have left it in that {u}?", "years_in(u) * a * legs(e)", e="legs", u="years_in", a=(2, 8)),
    t("A sample loses one atom of {e} in each year of one {u}, and {b} protons in an accident. How many protons did it lose?", "years_in(u) * atomic_number(e) + b", e="atomic_number", u="years_in", b=(8, 57)),
    t("Every second of one {u} a machine stamps the legs of one of the {e}. How many legs does it stamp?", "seconds_in(u) * legs(e)", e="legs", u="seconds_in"),
    t("A lamp flashes for each second of one {u} and once more for each proton of {e}. How many flashes are there?", "seconds_in(u) + atomic_number(e)", e="atomic_number", u="seconds_in"),
    t("Per second of one {u}, {a} atoms of {e} drop on a scale. How many protons lie on it then?", "seconds_in(u) * a * atomic_number(e)", e="atomic_number", u="seconds_in", a=(2, 4)),
    t("{name} glues one bead on each leg of {a} {e} from a bag of one {u} of beads and {b} spare beads. How many beads remain?", "pieces_in(u) + b - a * legs(e)", e="legs", u="pieces_in", a=(2, 5), r=(3, 40), b="=70 + r"),
    t("A dial turns by {a} degrees for each proton of {e} and then by one {u}. How many degrees has it turned?", "a * atomic_number(e) + degrees_in(u)", e="atomic_number", u="degrees_in", a=(2, 9)),
    t("A robot copies one of the {e}, and each leg may swing by one {u}. How many degrees do all legs of {a} such robots swing?", "a * legs(e) * degrees_in(u)", e="legs", u="degrees_in", a=(2, 5)),
    t("A memory of one {u} keeps one bit for each leg of {a} {e} and leaves the rest empty, {b} bits being added. How many bits are empty?", "bits_in(u) + b - a * legs(e)", e="legs", u="bits_in", a=(2, 6), r=(3, 40), b="=84 + r"),
    t("{name} writes the atomic number of {e} once in each bit of one {u} and adds all of them up. What is the sum?", "bits_in(u) * atomic_number(e)", e="atomic_number", u="bits_in"),
    t("A label of {a} millimetres is stuck on each leg of {b} {e}, and one {u} of tape goes on top. How many millimetres of tape is that?", "a * b * legs(e) + millimetres_in(u)", e="legs", u="millimetres_in", a=(3, 12), b=(2, 9)),
)  # fmt: skip
