"""Shows results to people: tables, progress, quantities with units, pictures."""
