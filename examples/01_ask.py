"""A question goes in, a workflow runs over a pool of workers, an answer comes out. Offline: python examples/01_ask.py"""

import asyncio

from podium import Call, Card, Conductor, FixedPolicy, Member, Scripted, Step, WorkerPool, Workflow, as_text

# Two workers that say what they are told to; any object with `async def __call__(call) -> Completion` is a worker.
planner = Scripted("Multiply 6 by 7.")
solver = Scripted(lambda call: f"I was shown {call.visible[0].response!r}, so the answer is {6 * 7}.")
pool = WorkerPool([Member(worker=planner, card=Card(name="planner")), Member(worker=solver, card=Card(name="solver"))])

# A workflow: who does what, and who sees what. Here it is written by hand; a policy writes it as text.
workflow = Workflow(steps=(Step(worker=0, subtask="Plan."), Step(worker=1, subtask="Solve.", access=(0,))))
conductor = Conductor(FixedPolicy(workflow), pool)


async def main() -> None:
    completion = await conductor(Call.plain("What is 6 times 7?"))
    print(as_text(completion.transcripts[0]))
    print("answer:", completion.text)


asyncio.run(main())
