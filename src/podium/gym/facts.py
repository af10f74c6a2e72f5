"""What there is to know: tables of well-known facts. A reference such as ``legs(spiders)`` names one of them.

Numbers and names only, each undisputed at the time of writing. Counts of players are those of one team on the field, by
the rules of the game usually meant; February has the 28 days of a common year.
"""

from podium.gym.expressions import Value

Table = dict[str, Value]


def _pairs(text: str) -> Table:
    """``"France: Paris; Italy: Rome"`` as a table; values of digits become integers."""
    table: Table = {}
    for pair in " ".join(text.split()).split("; "):
        entity, value = pair.split(": ")
        table[entity] = int(value) if value.isdigit() else value
    return table


TABLES: dict[str, Table] = {
    "capital": _pairs(
        """France: Paris; Italy: Rome; Spain: Madrid; Portugal: Lisbon; Austria: Vienna; Greece: Athens; Norway: Oslo;
        Sweden: Stockholm; Finland: Helsinki; Denmark: Copenhagen; Poland: Warsaw; Hungary: Budapest; Ireland: Dublin;
        Japan: Tokyo; China: Beijing; Thailand: Bangkok; Vietnam: Hanoi; Egypt: Cairo; Kenya: Nairobi; Ghana: Accra;
        Morocco: Rabat; Canada: Ottawa; Cuba: Havana; Peru: Lima; Chile: Santiago; Argentina: Buenos Aires;
        Colombia: Bogota; Uruguay: Montevideo; Australia: Canberra; Iceland: Reykjavik; Belgium: Brussels;
        Germany: Berlin; Romania: Bucharest; Bulgaria: Sofia; Croatia: Zagreb; Serbia: Belgrade; Turkey: Ankara;
        Iran: Tehran; Iraq: Baghdad; Jordan: Amman; Nepal: Kathmandu; Ukraine: Kyiv; Latvia: Riga; Estonia: Tallinn"""
    ),
    "symbol": _pairs(
        """hydrogen: H; helium: He; lithium: Li; carbon: C; nitrogen: N; oxygen: O; fluorine: F; neon: Ne; sodium: Na;
        magnesium: Mg; aluminium: Al; silicon: Si; phosphorus: P; sulfur: S; chlorine: Cl; argon: Ar; potassium: K;
        calcium: Ca; iron: Fe; nickel: Ni; copper: Cu; zinc: Zn; silver: Ag; tin: Sn; tungsten: W; platinum: Pt;
        gold: Au; mercury: Hg; lead: Pb; uranium: U; titanium: Ti; chromium: Cr; manganese: Mn; cobalt: Co; iodine: I"""
    ),
    "continent": _pairs(
        """France: Europe; Italy: Europe; Poland: Europe; Norway: Europe; Japan: Asia; Vietnam: Asia; Nepal: Asia;
        Mongolia: Asia; India: Asia; Kenya: Africa; Ghana: Africa; Morocco: Africa; Nigeria: Africa; Chad: Africa;
        Peru: South America; Chile: South America; Brazil: South America; Bolivia: South America;
        Canada: North America; Mexico: North America; Cuba: North America; Honduras: North America"""
    ),
    "currency": _pairs(
        """Japan: yen; India: rupee; China: yuan; Mexico: peso; Brazil: real; Russia: rouble; Poland: zloty;
        Hungary: forint; Sweden: krona; Thailand: baht; Vietnam: dong; Turkey: lira; Israel: shekel; Ghana: cedi;
        Peru: sol; Kenya: shilling; Nigeria: naira; Mongolia: tugrik; Bangladesh: taka; Malaysia: ringgit;
        Ukraine: hryvnia; Germany: euro; Georgia: lari; Armenia: dram"""
    ),
    "author": _pairs(
        """Hamlet: Shakespeare; Faust: Goethe; Emma: Austen; Ulysses: Joyce; Frankenstein: Shelley; Dracula: Stoker;
        Moby Dick: Melville; Don Quixote: Cervantes; The Divine Comedy: Dante; Les Miserables: Hugo; Jane Eyre: Bronte;
        The Trial: Kafka; War and Peace: Tolstoy; Crime and Punishment: Dostoevsky; Great Expectations: Dickens;
        Madame Bovary: Flaubert; Animal Farm: Orwell; The Odyssey: Homer; Candide: Voltaire; The Aeneid: Virgil;
        The Stranger: Camus; The Seagull: Chekhov; Pygmalion: Shaw; Treasure Island: Stevenson"""
    ),
    "painter": _pairs(
        """Mona Lisa: Leonardo; The Starry Night: Van Gogh; Guernica: Picasso; The Scream: Munch; The Night Watch: Rembrandt;
        The Birth of Venus: Botticelli; The Kiss: Klimt; Water Lilies: Monet; Las Meninas: Velazquez; American Gothic: Wood;
        The School of Athens: Raphael; Nighthawks: Hopper; The Hay Wain: Constable; Olympia: Manet; The Gleaners: Millet;
        The Persistence of Memory: Dali; Girl with a Pearl Earring: Vermeer; The Raft of the Medusa: Gericault"""
    ),
    "composer": _pairs(
        """The Magic Flute: Mozart; Fidelio: Beethoven; Aida: Verdi; Carmen: Bizet; Tosca: Puccini; Parsifal: Wagner;
        The Four Seasons: Vivaldi; Messiah: Handel; The Nutcracker: Tchaikovsky; Bolero: Ravel; The Planets: Holst;
        The Rite of Spring: Stravinsky; Peer Gynt: Grieg; Finlandia: Sibelius; The Creation: Haydn; La Mer: Debussy;
        Rhapsody in Blue: Gershwin; The Barber of Seville: Rossini; Scheherazade: Rimsky-Korsakov; Salome: Strauss"""
    ),
    "young": _pairs(
        """cow: calf; dog: puppy; cat: kitten; sheep: lamb; goat: kid; horse: foal; pig: piglet; bear: cub; kangaroo: joey;
        deer: fawn; goose: gosling; swan: cygnet; duck: duckling; eagle: eaglet; owl: owlet; hare: leveret; frog: tadpole;
        butterfly: caterpillar; chicken: chick; fish: fry"""
    ),
    "legs": _pairs(
        """spiders: 8; ants: 6; dogs: 4; ducks: 2; crabs: 10; bees: 6; cats: 4; scorpions: 8; lobsters: 10; horses: 4;
        beetles: 6; butterflies: 6; chickens: 2; cows: 4; ticks: 8; shrimps: 10; ostriches: 2; sheep: 4; frogs: 4;
        grasshoppers: 6; mites: 8; penguins: 2"""
    ),
    "sides": _pairs(
        """triangle: 3; square: 4; pentagon: 5; hexagon: 6; heptagon: 7; octagon: 8; nonagon: 9; decagon: 10; dodecagon: 12"""
    ),
    "atomic_number": _pairs(
        """helium: 2; lithium: 3; beryllium: 4; boron: 5; carbon: 6; nitrogen: 7; oxygen: 8; fluorine: 9; neon: 10;
        sodium: 11; magnesium: 12; aluminium: 13; silicon: 14; phosphorus: 15; sulfur: 16; chlorine: 17; argon: 18;
        potassium: 19; calcium: 20; iron: 26; nickel: 28; copper: 29; zinc: 30; silver: 47; tin: 50; gold: 79;
        mercury: 80; lead: 82"""
    ),
    "players": _pairs(
        """association football: 11; basketball: 5; volleyball: 6; baseball: 9; ice hockey: 6; handball: 7; water polo: 7;
        rugby union: 15; rugby league: 13; cricket: 11; netball: 7; field hockey: 11; polo: 4"""
    ),
    "strings": _pairs(
        """violin: 4; viola: 4; cello: 4; double bass: 4; ukulele: 4; classical guitar: 6; mandolin: 8; concert harp: 47"""
    ),
    "count": _pairs(
        """squares on a chessboard: 64; keys on a piano: 88; bones in an adult human body: 206; cards in a standard deck: 52;
        letters in the English alphabet: 26; states of the United States: 50; planets of the Solar System: 8;
        pieces in a chess set: 32; letters in the Greek alphabet: 24; teeth of an adult human: 32; pawns in a chess set: 16;
        chambers of the human heart: 4; colours of the rainbow: 7; rings on the Olympic flag: 5; spots on a die: 21;
        stripes on the flag of the United States: 13; ribs of a human: 24; holes of a golf course: 18; faces of a cube: 6;
        edges of a cube: 12; signs of the zodiac: 12; pins in a bowling lane: 10"""
    ),
    "days_in": _pairs(
        """January: 31; February: 28; March: 31; April: 30; May: 31; June: 30; July: 31; August: 31; September: 30;
        October: 31; November: 30; December: 31"""
    ),
    "seconds_in": _pairs("minute: 60; hour: 3600; half hour: 1800"),
    "minutes_in": _pairs("hour: 60; day: 1440; half hour: 30; quarter of an hour: 15"),
    "hours_in": _pairs("day: 24; week: 168; half day: 12; weekend: 48"),
    "months_in": _pairs("year: 12; quarter: 3; decade: 120; century: 1200"),
    "years_in": _pairs("decade: 10; century: 100; millennium: 1000; score: 20"),
    "inches_in": _pairs("foot: 12; yard: 36; mile: 63360"),
    "feet_in": _pairs("yard: 3; mile: 5280; fathom: 6; furlong: 660"),
    "ounces_in": _pairs("pound: 16; stone: 224"),
    "grams_in": _pairs("kilogram: 1000; tonne: 1000000; hectogram: 100"),
    "metres_in": _pairs("kilometre: 1000; hectometre: 100; megametre: 1000000"),
    "millimetres_in": _pairs("centimetre: 10; metre: 1000; decimetre: 100"),
    "pints_in": _pairs("gallon: 8; quart: 2; bushel: 64"),
    "millilitres_in": _pairs("litre: 1000; decilitre: 100; centilitre: 10"),
    "pieces_in": _pairs("dozen: 12; gross: 144; score: 20; pair: 2"),
    "cents_in": _pairs("dollar: 100; quarter: 25; dime: 10; nickel: 5"),
    "degrees_in": _pairs("full turn: 360; right angle: 90; straight angle: 180"),
    "bits_in": _pairs("byte: 8; kilobyte: 8000; nibble: 4"),
    "past_tense": _pairs(
        """go: went; see: saw; take: took; give: gave; write: wrote; drive: drove; eat: ate; fall: fell; fly: flew; grow: grew;
        know: knew; throw: threw; begin: began; drink: drank; sing: sang; swim: swam; break: broke; choose: chose; speak: spoke;
        steal: stole; bring: brought; buy: bought; catch: caught; fight: fought; teach: taught; think: thought; seek: sought"""
    ),
    "plural": _pairs(
        """mouse: mice; goose: geese; tooth: teeth; foot: feet; child: children; ox: oxen; man: men; woman: women; leaf: leaves;
        knife: knives; wolf: wolves; half: halves; louse: lice; die: dice; crisis: crises; analysis: analyses;
        criterion: criteria; phenomenon: phenomena;
        larva: larvae; stimulus: stimuli; thief: thieves; loaf: loaves; calf: calves; shelf: shelves"""
    ),
    "roman": _pairs(
        """four: IV; six: VI; nine: IX; eleven: XI; fourteen: XIV; nineteen: XIX; twenty: XX; forty: XL; fifty: L; sixty: LX;
        ninety: XC; one hundred: C; four hundred: CD; five hundred: D; nine hundred: CM; one thousand: M; twelve: XII;
        fifteen: XV; seventeen: XVII; thirty: XXX; seventy: LXX; eighty: LXXX"""
    ),
    "opposite": _pairs(
        """hot: cold; big: small; early: late; empty: full; dark: light; deep: shallow; strong: weak; wet: dry; rich: poor;
        young: old; loud: quiet; hard: soft; fast: slow; wide: narrow; true: false; sharp: blunt; ancient: modern;
        victory: defeat; arrival: departure;
        generous: mean; guilty: innocent; rough: smooth; public: private; permanent: temporary"""
    ),
}

FACTS: dict[str, Value] = {f"{table}({entity})": value for table, rows in TABLES.items() for entity, value in rows.items()}
"""Every fact by its reference. Example: ``FACTS["legs(spiders)"] == 8``."""
