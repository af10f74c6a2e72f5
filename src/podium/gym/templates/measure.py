"""Unit and date conversion, kept out of training: the factor is not in the question and must be recalled."""

# ruff: noqa: E501 (one template a line)

from podium.gym.templates.template import template as t

TEMPLATES = (
    t("A film lasts {a} times one {e} and {b} more minutes. How many minutes is that?", "a * minutes_in(e) + b", e="minutes_in", a=(2, 14), b=(11, 58)),
    t("Convert {a} units of one {e} to seconds and add {b} seconds.", "a * seconds_in(e) + b", e="seconds_in", a=(3, 17), b=(12, 59)),
    t("How many hours are in {a} times one {e}, less {b} hours?", "a * hours_in(e) - b", e="hours_in", a=(4, 19), b=(5, 23)),
    t("{name} rents a flat for {a} times one {e} and {b} months. For how many months is that?", "a * months_in(e) + b", e="months_in", a=(3, 14), b=(2, 11)),
    t("A castle stood for {a} times one {e} and then {b} more years. How many years is that?", "a * years_in(e) + b", e="years_in", a=(3, 9), b=(13, 95)),
    t("A plank of {a} times one {e} is shortened by {b} inches. How long is it in inches?", "a * inches_in(e) - b", e="inches_in", a=(4, 19), b=(5, 29)),
    t("A kite string of {a} times one {e} gets {b} feet longer. What is its length in feet?", "a * feet_in(e) + b", e="feet_in", a=(6, 29), b=(7, 48)),
    t("A parcel of {a} times one {e} gets {b} ounces of padding. What does it weigh in ounces?", "a * ounces_in(e) + b", e="ounces_in", a=(4, 23), b=(3, 28)),
    t("From a sack of {a} times one {e} of flour {name} takes {b} grams. How many grams are left?", "a * grams_in(e) - b", e="grams_in", a=(3, 18), b=(35, 290)),
    t("A runner covers {a} times one {e} and then walks {b} metres. How many metres is that altogether?", "a * metres_in(e) + b", e="metres_in", a=(4, 21), b=(45, 390)),
    t("A rod of {a} times one {e} is filed down by {b} millimetres. How long is it in millimetres now?", "a * millimetres_in(e) - b", e="millimetres_in", a=(7, 33), b=(6, 48)),
    t("{name} pours {a} times one {e} of milk and {b} pints more. How many pints is that?", "a * pints_in(e) + b", e="pints_in", a=(6, 28), b=(5, 23)),
    t("A jug of {a} times one {e} spills {b} millilitres. How many millilitres remain in the jug?", "a * millilitres_in(e) - b", e="millilitres_in", a=(3, 19), b=(14, 95)),
    t("{name} orders {a} times one {e} of buttons and finds {b} extra pieces. How many pieces are there?", "a * pieces_in(e) + b", e="pieces_in", a=(4, 26), b=(7, 34)),
    t("A jar holds {a} times one {e} in coins and {b} single cents. How many cents is that in all?", "a * cents_in(e) + b", e="cents_in", a=(6, 38), b=(7, 48)),
    t("A wheel makes {a} times one {e} and then turns back {b} degrees. How many degrees has it gained?", "a * degrees_in(e) - b", e="degrees_in", a=(4, 17), b=(13, 85)),
    t("A message takes {a} times one {e} plus {b} bits for its header. How many bits is it long?", "a * bits_in(e) + b", e="bits_in", a=(12, 64), b=(9, 31)),
    t("Today is day {a} of {e}. Counting only this month, how many days are left until its end, times {b}?", "(days_in(e) - a) * b", e="days_in", a=(3, 6), b=(4, 17)),
    t("A loan runs through the whole of {e} and {a} days beyond. At {b} cents a day, what does it cost in cents?", "(days_in(e) + a) * b", e="days_in", a=(4, 19), b=(12, 37)),
    t("{name} is away for all of {e} and all of {g} except {a} days. For how many days is {name} away?", "days_in(e) + days_in(g) - a", e="days_in", g="days_in", a=(3, 6)),
    t("A pill is taken {a} times a day over {e}, with {b} pills left over. How many pills were in the box?", "a * days_in(e) + b", e="days_in", a=(3, 9), b=(5, 28)),
    t("A talk of {b} minutes is held {a} times, then a break of one {e} follows. How many minutes is that?", "a * b + minutes_in(e)", e="minutes_in", a=(4, 15), b=(14, 38)),
    t("{name} sleeps for {a} seconds less than {b} times one {e}. How many seconds is that?", "b * seconds_in(e) - a", e="seconds_in", a=(13, 55), b=(4, 16)),
    t("Two guards share a watch of {a} times one {e} equally. For how many hours does each stand?", "a * hours_in(e) // 2", e="hours_in", a=(3, 28)),
    t("Over {a} times one {e} a subscription costs {b} dollars a month. What is the sum in dollars?", "a * months_in(e) * b", e="months_in", a=(2, 8), b=(7, 19)),
    t("A tree is {a} years older than {b} times one {e}. How many years old is the tree?", "a + b * years_in(e)", e="years_in", a=(14, 78), b=(2, 8)),
    t("Each of {a} ribbons measures one {e} and gets a hem of {b} inches. How many inches do they measure together?", "a * (inches_in(e) + b)", e="inches_in", a=(5, 18), b=(2, 9)),
    t("A cable of {a} feet is laid, then {b} times one {e} more. How many feet of cable lie there?", "a + b * feet_in(e)", e="feet_in", a=(16, 88), b=(4, 17)),
    t("A cook uses {b} ounces out of {a} times one {e} of rice. What remains in ounces?", "a * ounces_in(e) - b", e="ounces_in", a=(3, 19), b=(5, 31)),
    t("A truck loads {a} boxes, each one {e} plus {b} grams of wrapping. What is the load in grams?", "a * (grams_in(e) + b)", e="grams_in", a=(4, 16), b=(12, 65)),
    t("A road of {a} metres is extended by {b} times one {e}. How long is the road in metres?", "a + b * metres_in(e)", e="metres_in", a=(120, 880), b=(3, 14)),
    t("{name} shares {a} times one {e} of pens among {b} tables and keeps the rest. How many pens does {name} keep?", "a * pieces_in(e) % b", e="pieces_in", a=(7, 29), b=(13, 29)),
    t("A toll of {b} cents is paid from {a} times one {e}. How many cents come back?", "a * cents_in(e) - b", e="cents_in", a=(14, 42), b=(17, 65)),
    t("A dial turns {b} degrees a second for {a} seconds and then by one {e}. By how many degrees is that?", "a * b + degrees_in(e)", e="degrees_in", a=(6, 19), b=(7, 24)),
    t("A keg of {a} times one {e} fills {b} mugs of one pint. How many pints are still inside the keg?", "a * pints_in(e) - b", e="pints_in", a=(8, 29), b=(4, 13)),
    t("A file of {a} times one {e} is sent {b} times over. How many bits go through the line?", "a * bits_in(e) * b", e="bits_in", a=(13, 58), b=(3, 9)),
)  # fmt: skip
