"""How others call it: an OpenAI-compatible server over whatever it is offered."""
