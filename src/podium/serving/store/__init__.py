"""What the server remembers: keys, quotas, runs and paused tool calls, in SQLite or PostgreSQL."""
