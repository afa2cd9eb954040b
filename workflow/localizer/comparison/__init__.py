"""The witness beside other scores of events: one objective, problems, one file a competitor."""
