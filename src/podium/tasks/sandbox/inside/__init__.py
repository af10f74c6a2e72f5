"""What runs inside the sandbox: standard library only, shipped into it as compiled files, no line of it trusted outside.

``server`` waits for jobs, ``trial`` forks and watches one test, ``candidate`` is what the fork does, ``frames`` is the
format of the messages, shared with the host. Inside, the folders above are namespace packages without code.
"""
