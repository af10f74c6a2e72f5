"""Workers that act: they run a program, start a command, call tools, or ask a person (docs/acting.md)."""
