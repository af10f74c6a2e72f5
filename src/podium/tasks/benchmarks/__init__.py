"""The public benchmarks as Problems: one small file per family, which registers its sets.

Read ``registry.py`` first. A set comes from a local folder (``files.py``) or from the public hub (``hub.py``); both give the
same rows, and one parser per set makes Problems of them. To add a set: a parser and a registered ``Benchmark`` in its family's
file or in a new one, or in another package. What is done with whole sets stands beside them: ``check.py`` (is a set as it
should be), ``hygiene.py`` (train and test apart) and ``mixes.py`` (training sets by recipe).

A local folder looks like this; ``.gz`` may be left off or added:

    math500/test.jsonl                  math_train/math.json.gz (or math/{train,test}.jsonl in the hub's columns)
    gsm8k/{train,test}.jsonl.gz         aime25/aime25.jsonl        aime24/test.jsonl (hub)
    mmlu/mmlu.zip                       gpqa/gpqa_diamond.csv (hub)
    theoremqa/theoremqa_test.json       scibench/{atkins,calculus,...}.json     rlpr/{train,test}.jsonl (hub)
    humaneval/HumanEval.jsonl.gz        mbpp/mbpp.jsonl.gz         bigcodebench/bigcodebench_hard.json.gz
    codeforces/codeforces_test.json.gz  leetcode/leetcode_{train,test}.json.gz
    livecodebench/test{,2,...,6}.jsonl (hub)                       cruxeval/cruxeval.jsonl
"""
