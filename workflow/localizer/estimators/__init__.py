"""Discrepancies and their localizers (secs. 3, 4 and 6 of the paper)."""
