"""The page in the browser: ask and watch, conduct by hand, look at runs, follow a training run, see the pool.

Everything a model, a user or a file wrote is hostile here. It is shown as text; Markdown goes through
:mod:`podium.page.markup`, pictures through an escaper, and the browser is told to run nothing else
(:mod:`podium.page.security_headers`).
"""
