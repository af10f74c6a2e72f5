"""Money, kept out of training: a bill is read into an expression and computed, like a story."""

# ruff: noqa: E501 (one template a line)

from podium.gym.templates.template import template as t

TEMPLATES = (
    t("{name} buys {a} {thing} at {b} cents each and pays with {c} dollars. How many cents come back?", "c * 100 - a * b", a=(3, 9), b=(35, 95), c=(10, 30)),
    t("A ticket costs {a} dollars, and a group of {b} people gets {c} dollars off. What does the group pay in dollars?", "a * b - c", a=(12, 38), b=(6, 24), c=(10, 60)),
    t("{name} pays {a} dollars of rent in each of {b} months and {c} dollars for repairs. How many dollars is that?", "a * b + c", a=(310, 870), b=(4, 12), c=(45, 260)),
    t("A coat costs {a} dollars and a hat {b} dollars. What do {c} coats and {d} hats cost together?", "a * c + b * d", a=(45, 120), b=(12, 38), c=(3, 9), d=(3, 9)),
    t("A bill of {a} dollars is shared equally by {b} friends, and each adds {c} dollars as a tip. What does each friend pay?", "a // b + c", b=(3, 9), q=(14, 46), a="=b * q", c=(2, 9)),
    t("{name} saves {a} dollars a week for {b} weeks and spends {c} dollars on a gift. How many dollars are saved?", "a * b - c", a=(12, 48), b=(8, 30), c=(20, 90)),
    t("A bakery earns {a} cents on each roll and sells {b} rolls, but throws away dough worth {c} cents. How many cents does it earn?", "a * b - c", a=(14, 48), b=(60, 190), c=(120, 480)),
    t("Petrol costs {a} cents a litre. {name} fills in {b} litres and buys a coffee for {c} cents. How many cents is that?", "a * b + c", a=(135, 198), b=(22, 58), c=(180, 420)),
    t("A hotel asks {a} dollars a night and {b} dollars for breakfast. What do {c} nights with breakfast cost?", "(a + b) * c", a=(56, 140), b=(7, 19), c=(3, 12)),
    t("{name} sells {a} {thing} for {b} dollars each after buying them for {c} dollars each. How many dollars of profit is that?", "a * (b - c)", a=(14, 60), c=(3, 12), r=(3, 18), b="=c + r"),
    t("A club collects {a} dollars from each of {b} members and pays {c} dollars for a hall. How many dollars remain in the till?", "a * b - c", a=(12, 45), b=(18, 60), c=(90, 200)),
    t("A phone costs {a} dollars now and {b} dollars in each of {c} months. What is the whole price in dollars?", "a + b * c", a=(49, 199), b=(12, 45), c=(12, 36)),
    t("{name} has {a} dollars and buys {b} books at {c} dollars apiece. How many dollars are in the purse afterwards?", "a - b * c", b=(3, 9), c=(7, 19), r=(12, 90), a="=b * c + r"),
    t("A taxi asks {a} dollars at the start and {b} dollars per mile. What does a ride of {c} miles cost?", "a + b * c", a=(3, 9), b=(2, 6), c=(12, 48)),
    t("The price of a {a} dollar bicycle is lowered by {b} dollars in each of {c} weeks. What does it cost then?", "a - b * c", b=(4, 19), c=(3, 9), r=(90, 300), a="=b * c + r"),
    t("A kiosk sells {a} papers at {b} cents and {c} papers at {d} cents. How many cents does it take?", "a * b + c * d", a=(14, 60), b=(80, 150), c=(12, 48), d=(160, 240)),
    t("{name} pays {a} cents for each of {b} stamps and gets {c} cents back. How many cents were handed over?", "a * b + c", a=(45, 98), b=(6, 24), c=(5, 90)),
    t("A fine of {a} dollars grows by {b} dollars each day. What is owed after {c} days, less {d} dollars paid already?", "a + b * c - d", a=(30, 90), b=(3, 12), c=(5, 24), d=(10, 29)),
    t("A farmer gets {a} dollars per crate for {b} crates and pays {c} dollars to each of {d} pickers. How many dollars are left?", "a * b - c * d", a=(25, 48), b=(30, 70), c=(45, 80), d=(3, 8)),
    t("{name} splits a prize of {a} dollars into {b} equal shares and keeps {c} of them. How many dollars does {name} keep?", "a // b * c", b=(4, 12), q=(15, 60), a="=b * q", c=(2, 3)),
    t("Insurance costs {a} dollars a quarter, and there is a refund of {b} dollars. What does it cost for {c} quarters?", "a * c - b", a=(65, 180), b=(20, 60), c=(3, 12)),
    t("A menu for {a} dollars is ordered by {b} guests, and {c} of them add a dessert for {d} dollars. What is the bill?", "a * b + c * d", a=(18, 45), b=(6, 20), c=(2, 5), d=(4, 9)),
    t("{name} earns {a} dollars a day and spends {b} of them. How many dollars are put aside in {c} days?", "(a - b) * c", b=(20, 60), r=(12, 50), a="=b + r", c=(6, 28)),
    t("A parcel costs {a} cents plus {b} cents for every pound. What do {c} parcels of {d} pounds each cost?", "(a + b * d) * c", a=(250, 490), b=(35, 90), c=(2, 9), d=(3, 12)),
    t("At a fair {a} people pay {b} dollars and {c} children pay half of it. How many dollars does the fair take in?", "a * b + c * (b // 2)", q=(3, 9), b="=q * 2", a=(40, 120), c=(20, 90)),
    t("The rent for a boat is {a} dollars an hour. {name} has {b} dollars and rows for {c} hours. How many dollars are left?", "b - a * c", a=(8, 19), c=(2, 7), r=(6, 60), b="=a * c + r"),
    t("A school buys {a} desks at {b} dollars and gets {c} dollars off each desk. What does the school pay?", "a * (b - c)", a=(18, 60), c=(4, 15), r=(30, 80), b="=c + r"),
)  # fmt: skip
