"""WHAT is to be done: the language, its prompt, its parser, its executor, its pictures."""
