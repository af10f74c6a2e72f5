"""How others call it: an OpenAI-compatible server over the models of a catalog."""
