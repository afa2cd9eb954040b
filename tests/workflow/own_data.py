"""Own data through the real workflow: configurations, and what is compared of the results."""

#: three chunks of events, by few random features
SHARED = """
  method: rff
  features_per_bandwidth: 16
  ladder: [0.25, 1.0]
  example: {readings: 40000, worn: 0.02}
  calibration: {draws: 80, draws_per_job: 40}
"""


def found_in(folder):
    """Return the results on own data by name, without the parts that they were made of."""
    kinds = {".csv", ".json", ".parquet", ".npz"}
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix in kinds}


def overlay(project, shipped, more):
    """Write a copy of a shipped configuration with more keys of its section ``score``."""
    text = (project.root / "config" / shipped).read_text()
    (project.root / "config/mine.yaml").write_text(text + more)
    return ("--configfile", "config/mine.yaml")
