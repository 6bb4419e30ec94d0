"""The report of one or several results as one HTML file with interactive charts."""
