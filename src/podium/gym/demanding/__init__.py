"""A world that needs a conductor: workers who differ by kind *and* part of the work, and who have the habits of real models."""
