"""What each experiment simulates and the tables it leaves; no verdicts."""
