"""Scores for a user's own data: tables, scores, significance, cross-fitting."""
