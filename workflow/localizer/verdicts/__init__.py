"""The published numbers and statements beside the reproduced ones, and the rules of judging."""
