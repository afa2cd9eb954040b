"""Put the folder that holds ``localizer`` and ``stage`` on the path of every script.

Snakemake puts the folder of the script itself there, with and without ``--sdm conda``, which
removes PYTHONPATH from a job; hence this module, imported first.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
