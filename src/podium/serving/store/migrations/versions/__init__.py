"""The changes, oldest first. A file that was released is never edited."""
