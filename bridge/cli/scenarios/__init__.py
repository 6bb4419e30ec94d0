"""Commands that find, write, read and check scenarios."""
