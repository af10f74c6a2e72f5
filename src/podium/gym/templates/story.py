"""Maths word problems: read the story into an expression, then compute it."""

# ruff: noqa: E501 (one template a line)

from podium.gym.templates.template import template as t

TEMPLATES = (
    t("{name} has {a} {thing} and buys {b} boxes of {c} {thing} each. How many {thing} does {name} have now?", "a + b * c", a=(12, 95), b=(3, 14), c=(6, 24)),
    t("A bakery packs {a} trays with {b} rolls each and then sells {c} rolls. How many rolls are left?", "a * b - c", a=(7, 28), b=(12, 40), c=(15, 80)),
    t("{name} collects {a} {thing} a day for {b} days and gives away {c} of them. How many {thing} remain?", "a * b - c", a=(11, 34), b=(5, 19), c=(8, 50)),
    t("A train has {a} carriages with {b} seats each, and {c} seats are taken. How many seats are free?", "a * b - c", a=(6, 16), b=(42, 78), c=(60, 240)),
    t("{name} earns {a} dollars an hour and works {b} hours, then pays {c} dollars for tools. How many dollars are left?", "a * b - c", a=(13, 38), b=(7, 29), c=(12, 85)),
    t("There are {a} rows of {b} chairs in a hall, and {c} more chairs stand in the lobby. How many chairs are there altogether?", "a * b + c", a=(9, 32), b=(11, 36), c=(14, 90)),
    t("{name} shares {a} {thing} equally among {b} friends. How many {thing} does each friend get?", "a // b", b=(4, 17), q=(13, 58), a="=b * q"),
    t("A farmer fills {b} crates evenly with {a} melons and then adds {c} melons to one crate. How many melons are in that crate?", "a // b + c", b=(4, 15), q=(14, 46), a="=b * q", c=(3, 19)),
    t("{name} is {a} years old, and {other} is {b} times as old minus {c} years. How old is {other}?", "a * b - c", a=(12, 33), b=(2, 4), c=(3, 11)),
    t("A shop sold {a} {thing} on Monday and {b} times as many on Tuesday. How many {thing} did it sell on both days?", "a + a * b", a=(27, 140), b=(2, 7)),
    t("{name} read {a} pages on each of {b} days and {c} pages on each of {d} days after that. How many pages did {name} read?", "a * b + c * d", a=(12, 46), b=(3, 12), c=(14, 48), d=(3, 11)),
    t("A tank holds {a} litres and loses {b} litres every hour. How many litres are in it after {c} hours?", "a - b * c", b=(11, 39), c=(4, 16), r=(17, 260), a="=b * c + r"),
    t("{name} buys {a} pens at {b} cents and {c} rulers at {d} cents. What is the total price in cents?", "a * b + c * d", a=(4, 19), b=(35, 98), c=(3, 12), d=(45, 99)),
    t("A theatre sells {a} tickets at {b} dollars and {c} tickets at {d} dollars. How many dollars does it take in?", "a * b + c * d", a=(24, 88), b=(7, 18), c=(13, 56), d=(19, 32)),
    t("{name} cuts a rope of {a} metres into pieces of {b} metres. How many metres are left over at the end?", "a % b", a=(80, 460), b=(7, 19)),
    t("A bus starts with {a} people. At a stop {b} people get off and {c} get on. How many people are on the bus?", "a - b + c", b=(11, 29), c=(12, 37), r=(13, 48), a="=b + r"),
    t("{name} plants {a} beds of {b} {thing} and {other} plants {c} beds of {d}. How many more did {name} plant?", "a * b - c * d", a=(14, 29), b=(15, 31), c=(4, 12), d=(6, 14)),
    t("A printer makes {a} copies a minute. How many copies does it make in {b} minutes if {c} of them are spoiled and thrown away?", "a * b - c", a=(16, 47), b=(8, 26), c=(13, 77)),
    t("{name} saves {a} coins each week for {b} weeks and already had {c} coins. How many coins does {name} own?", "a * b + c", a=(12, 44), b=(6, 25), c=(15, 130)),
    t("A class of {a} pupils is split into teams of {b}. How many full teams are there?", "a // b", a=(95, 420), b=(6, 17)),
    t("{name} walks {a} kilometres a day and {other} walks {b} kilometres a day. How far do they walk together in {c} days?", "(a + b) * c", a=(8, 27), b=(9, 26), c=(6, 18)),
    t("A box weighs {a} grams empty and holds {b} jars of {c} grams each. What does the full box weigh in grams?", "a + b * c", a=(120, 480), b=(6, 24), c=(45, 190)),
    t("{name} had {a} {thing}, lost {b} of them and then doubled what was left. How many {thing} does {name} have?", "(a - b) * 2", b=(12, 47), r=(16, 85), a="=b + r"),
    t("A garden is {a} metres long and {b} metres wide. How many metres of fence go all the way round it?", "2 * (a + b)", a=(23, 97), b=(14, 68)),
    t("A wall is {a} tiles wide and {b} tiles high, and {c} tiles are broken. How many tiles are whole?", "a * b - c", a=(13, 42), b=(12, 33), c=(14, 95)),
    t("{name} pays for {a} nights at {b} dollars a night plus a fee of {c} dollars. What is the bill in dollars?", "a * b + c", a=(4, 17), b=(48, 135), c=(15, 78)),
    t("From a barrel of {a} litres {name} fills {b} bottles of {c} litres. How many litres stay in the barrel?", "a - b * c", b=(8, 27), c=(2, 7), r=(14, 150), a="=b * c + r"),
    t("{name} and {other} pick {a} and {b} {thing} and share them equally. How many {thing} does each get?", "(a + b) // 2", q=(31, 120), b=(14, 60), a="=2 * q - b"),
    t("A lift carries {a} people per trip. After {b} trips, {c} people are still waiting. How many people came in all?", "a * b + c", a=(7, 18), b=(9, 31), c=(11, 48)),
    t("{name} bakes {a} cakes with {b} eggs each from a stock of {c} eggs. How many eggs are left in stock?", "c - a * b", a=(7, 18), b=(3, 8), r=(13, 90), c="=a * b + r"),
    t("A cyclist rides {a} kilometres in the morning, {b} at noon and {c} fewer in the evening than at noon. How far is that altogether?", "a + b + b - c", a=(18, 74), c=(11, 29), r=(12, 55), b="=c + r"),
    t("{name} puts {a} photos on each page of an album with {b} pages, leaving {c} pages empty. How many photos are in the album?", "a * (b - c)", a=(6, 14), c=(5, 17), r=(14, 52), b="=c + r"),
    t("Each of {a} shelves holds {b} books. {name} takes away {c} whole shelves. How many books are left?", "(a - c) * b", b=(17, 48), c=(3, 9), r=(6, 19), a="=c + r"),
    t("A machine fills {a} bags in {b} minutes at a steady rate. How many bags does it fill in {c} minutes?", "a // b * c", b=(4, 12), q=(6, 21), a="=b * q", c=(13, 38)),
    t("{name} orders {a} packs of {b} cards, returns {c} packs and finds {d} loose cards. How many cards does {name} have?", "(a - c) * b + d", b=(12, 36), c=(3, 8), r=(5, 16), a="=c + r", d=(11, 40)),
    t("A ship carries {a} containers of {b} tonnes and unloads {c} tonnes in port. How many tonnes stay on board?", "a * b - c", a=(26, 74), b=(12, 28), c=(85, 290)),
)  # fmt: skip
