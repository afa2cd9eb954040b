"""What each experiment simulates and the tables it produces; no verdicts."""
