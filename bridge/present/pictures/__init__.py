"""Figures and how they are drawn."""
