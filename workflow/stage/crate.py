"""A run as a Workflow Run RO-Crate, for archives and catalogues that read such metadata."""

from __future__ import annotations

import mimetypes
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from rocrate.model import ContextEntity
from rocrate.rocrate import ROCrate

from stage.provenance import sha256

PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}
LICENCE = "https://spdx.org/licenses/BSD-3-Clause"
_TYPES = {bool: "Boolean", int: "Integer", float: "Float", str: "Text"}


def crate(
    record: Mapping[str, Any],
    *,
    results: Path,
    workflow: str,
    outputs: Iterable[str],
    addresses: Mapping[str, str],
) -> ROCrate:
    """Return the metadata of a run: the workflow, its parameters, the data and the results.

    Parameters
    ----------
    record
        What :func:`stage.provenance.collect` returns.
    results
        The folder of the run, which is the crate.
    workflow
        The copy of the Snakefile in it.
    outputs
        The results that the crate lists, by their paths in it.
    addresses
        Where a data file is available, by its path in the registry.
    """
    run = record["config"]["run"]
    made = ROCrate(version="1.1", gen_preview=False)
    made.metadata.extra_contexts.append("https://w3id.org/ro/terms/workflow-run")
    made.metadata.extra_terms["sha256"] = "https://schema.org/sha256"

    def add(identifier: str, kind: str, **properties: Any) -> ContextEntity:
        return made.add(ContextEntity(made, identifier, properties={"@type": kind, **properties}))

    made.name = f"Reproduction of 'Localizing Global Discrepancies', run {run}"
    made.description = (
        "Figures, tables, verdicts and provenance of one run of the localizer workflow. "
        f"LHC Olympics data: edition {(record['edition'] or {}).get('name', 'not used')}."
    )
    made.license = add(LICENCE, "CreativeWork", name="BSD-3-Clause")
    made.root_dataset["conformsTo"] = [
        add(name, "CreativeWork", name=title, version=name.rpartition("/")[2])
        for name, title in PROFILES.items()
    ]

    main = made.add_workflow(
        results / workflow,
        workflow,
        main=True,
        lang="snakemake",
        properties={"name": "localizer", "encodingFormat": "text/plain"},
    )
    main["license"] = made.license
    main["version"] = record["commit"] or "unknown"
    if record["swhid"]:
        main["identifier"] = record["swhid"]
    main["softwareRequirements"] = [
        add(f"#{name}", "SoftwareApplication", name=name, softwareVersion=version)
        for name, version in record["versions"].items()
    ]
    engine = made.get("#snakemake")

    inputs, values = [], []
    for key, value in _leaves(record["config"]):
        kind = _TYPES.get(type(value), "Text")
        name = f"#parameter-{key}"
        inputs.append(add(name, "FormalParameter", name=key, additionalType=kind))
        shown = value if kind != "Text" else str(value)
        values.append(
            add(f"#value-{key}", "PropertyValue", name=key, value=shown, exampleOfWork=inputs[-1])
        )
    main["input"] = inputs

    data = [
        made.add_file(addresses[path], properties={"name": path, "sha256": digest})
        for path, digest in (record["data"] or {}).items()
        if path in addresses
    ]
    listed = [
        made.add_file(results / path, path, properties=_described(results / path, path))
        for path in outputs
    ]
    ended = max((stage["ended"] for stage in record["stages"]), default=None)
    began = min((stage["began"] for stage in record["stages"]), default=None)
    action = add(
        "#run",
        "CreateAction",
        name=f"snakemake, run {run}",
        description="One run of the workflow, with the configuration and the data listed here.",
        instrument=main,
        object=[*data, *values],
        result=listed,
        **({"startTime": began, "endTime": ended} if began else {}),
    )
    if ended:
        made.datePublished = ended
    add("#engine", "OrganizeAction", name="Snakemake", instrument=engine, result=action)
    made.root_dataset["mentions"] = [action]
    return made


def _described(path: Path, name: str) -> dict[str, Any]:
    kind, _ = mimetypes.guess_type(name)
    return {
        "name": name,
        "contentSize": str(path.stat().st_size),
        "sha256": sha256(path),
        **({"encodingFormat": kind} if kind else {}),
    }


def _leaves(section: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every key of the configuration with its full name."""
    for name, value in section.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value
