"""A real SLURM on this machine, on loopback only, for as long as it is needed.

``python tests/workflow/slurm_cluster.py COMMAND ...`` runs a command while it is up, for
example a shell in which to follow the README.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

CONFIGURATION = Path("/etc/slurm/slurm.conf")
"""Its usual place: inside a job the plugin's srun forgets where SLURM_CONF points."""

MARK = "# Written by tests/workflow/slurm_cluster.py, and removed by it; process"
DAEMONS = ("munged", "slurmctld", "slurmd")

# Memory is watched by sampling, so that it needs no control groups; a job that takes more
# than it asked for is killed as on a cluster that has them.
TEMPLATE = """{mark} {pid}
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc={folder}/jobs.txt
MinJobAge=3600
SchedulerParameters=batch_sched_delay=0
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 RealMemory=8000
PartitionName=main Nodes={host} Default=YES State=UP
"""


def why_not() -> str:
    """Return why SLURM cannot be started here, or nothing."""
    if os.geteuid() != 0:
        return "SLURM's daemons can only be started by root"
    missing = [name for name in (*DAEMONS, "sbatch", "setpriv") if not _program(name)]
    if missing:
        return f"no {', '.join(missing)} here; on Debian: apt install slurm-wlm munge"
    if _is_anothers(CONFIGURATION):
        return f"{CONFIGURATION} belongs to another SLURM, which is left alone"
    return ""


@contextmanager
def cluster() -> Iterator[Path]:
    """Run SLURM with one node of two processors; yield the folder of its state.

    ``jobs.txt`` in it gets a line for every job that has ended.
    """
    reason = why_not()
    if reason:
        raise RuntimeError(reason)
    # not below pytest's folder: munge wants a path that everybody may enter
    folder = Path(tempfile.mkdtemp(prefix="slurm-"))
    folder.chmod(0o755)
    running: list[subprocess.Popen[bytes]] = []
    made: list[Path] = []
    held = [_held_port() for _ in range(2)]
    try:
        made = _write_configuration(folder, *(one.getsockname()[1] for one in held))
        (folder / "munge.key").write_bytes(secrets.token_bytes(128))
        (folder / "munge.key").chmod(0o600)
        running.append(_start(folder, "munged", "--foreground", *_munge_files(folder)))
        _wait_for(lambda: (folder / "munge.socket").exists(), folder, running)
        running.append(_start(folder, "slurmctld", "-D", "-i"))
        running.append(_start(folder, "slurmd", "-D", "-N", _host()))
        _wait_for(_is_idle, folder, running)
        yield folder
    finally:
        if len(running) == len(DAEMONS):
            _cancel_all()
        for process in reversed(running):
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for one in held:
            one.close()
        for path in made:
            path.unlink() if path.is_file() else path.rmdir()
        shutil.rmtree(folder)


def _host() -> str:
    return socket.gethostname().split(".")[0]


def _program(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin")


def _is_anothers(configuration: Path) -> bool:
    """Whether a configuration was not left behind by a killed process of this module."""
    if not configuration.exists():
        return False
    first = configuration.read_text().splitlines()[:1]
    if not first or not first[0].startswith(MARK):
        return True
    return Path(f"/proc/{first[0].removeprefix(MARK).strip()}").exists()


def _write_configuration(folder: Path, controller_port: int, node_port: int) -> list[Path]:
    """Write the configuration and return what has been made, the innermost first."""
    made = [CONFIGURATION]
    if not CONFIGURATION.parent.exists():
        CONFIGURATION.parent.mkdir()
        made.append(CONFIGURATION.parent)
    CONFIGURATION.unlink(missing_ok=True)
    for name in ("state", "spool"):
        (folder / name).mkdir()
    with CONFIGURATION.open("x") as file:
        file.write(
            TEMPLATE.format(
                mark=MARK,
                pid=os.getpid(),
                host=_host(),
                folder=folder,
                controller_port=controller_port,
                node_port=node_port,
            )
        )
    return made


def _held_port() -> socket.socket:
    """Return a socket that keeps a port from others.

    It never listens, so that a daemon, which like it allows reuse, can take the same port.
    """
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind(("127.0.0.1", 0))
    return held


def _munge_files(folder: Path) -> list[str]:
    files = {"key-file": "key", "socket": "socket", "pid-file": "pid"}
    files |= {"log-file": "log", "seed-file": "seed"}
    return [f"--{option}={folder}/munge.{name}" for option, name in files.items()]


def _start(folder: Path, name: str, *words: str) -> subprocess.Popen[bytes]:
    with (folder / f"{name}.out").open("wb") as out:
        return subprocess.Popen(
            # a daemon ends with this process even if that is killed
            ["setpriv", "--pdeathsig", "TERM", str(_program(name)), *words],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def _asked(*words: str) -> str:
    with suppress(subprocess.TimeoutExpired):
        return subprocess.run(
            words, capture_output=True, text=True, timeout=10, check=False
        ).stdout.strip()
    return ""


def _is_idle() -> bool:
    return _asked("sinfo", "--noheader", "--format=%t") == "idle"


def _cancel_all() -> None:
    _asked("scancel", "--user=root")
    patience = time.monotonic() + 30
    while _asked("squeue", "--noheader") and time.monotonic() < patience:
        time.sleep(0.2)


def _wait_for(
    condition: Callable[[], bool], folder: Path, running: list[subprocess.Popen[bytes]]
) -> None:
    patience = time.monotonic() + 60
    while not condition():
        if time.monotonic() > patience or any(one.poll() is not None for one in running):
            said = [path.read_text()[-2000:] for path in folder.glob("*.out")]
            said += [path.read_text()[-2000:] for path in folder.glob("*.log")]
            raise RuntimeError("SLURM does not start:\n" + "\n".join(said))
        time.sleep(0.1)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with cluster():
        sys.exit(subprocess.run(sys.argv[1:], check=False).returncode)
