"""Results for people: tables, progress, quantities with units, pictures."""
