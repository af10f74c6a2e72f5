"""Recursion: the policy reads its own first round and conducts again, or keeps the answer: python examples/05_recursion.py"""

import asyncio

from podium import Brief, Call, Card, Conductor, Generation, Member, Scripted, WorkerPool, as_text

FIRST = "model_id = [0]\nsubtasks = ['Guess.']\naccess_list = [[]]"
SECOND = "That was only a guess, so I have it checked.\nmodel_id = [1]\nsubtasks = ['Check it.']\naccess_list = ['all']"
KEEP = "That was checked; I keep it.\nmodel_id = []\nsubtasks = []\naccess_list = []"


class CheckOnce:
    """A policy: guesses in round 1, has the guess checked in round 2, keeps the result in round 3."""

    async def write(self, brief: Brief, n: int = 1) -> list[Generation]:
        return [Generation(text=[FIRST, SECOND, KEEP][len(brief.previous_rounds)])] * n


guesser = Scripted("It is 41.")
checker = Scripted(lambda call: f"{call.visible[0].response} No: 6 times 7 is 42.")
pool = WorkerPool([Member(worker=guesser, card=Card(name="guesser")), Member(worker=checker, card=Card(name="checker"))])


async def main() -> None:
    completion = await Conductor(CheckOnce(), pool, rounds=3)(Call.plain("What is 6 times 7?"))
    for number, transcript in enumerate(completion.transcripts, start=1):
        print(f"round {number}\n{as_text(transcript)}")
    print("answer:", completion.text)


asyncio.run(main())
