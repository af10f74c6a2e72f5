"""Programs that run inside the sandbox. They are sent as text, import the standard library only, and trust no input."""
