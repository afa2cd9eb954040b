"""Put the folder that holds ``localizer`` and ``stage`` on the path of every script.

Snakemake puts the folder of the script itself there, with and without ``--sdm conda``, which
removes PYTHONPATH from a job; hence this module, imported first.
"""

import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

# Ctrl-C reaches Snakemake and its jobs: a job ends at once, without a traceback of its own.
# Results are renamed into place when they are complete, so none is left half written.
if ".snakemake" in sys.argv[0]:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
