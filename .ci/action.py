"""Runs the steps of action.yml as GitHub's runner does, on small workspaces, and looks at what comes out.

    action.py REPOSITORY

Needs PyYAML, bash and cargo.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

from cases import GOOD, Tally

BAD = GOOD.replace("location: MESH", "locatoin: MESH")
TWICE = GOOD + "---\n" + GOOD


class Runner:
    """As much of a runner as a composite action needs: inputs, the files that steps write to, and outputs."""

    def __init__(self, repository: Path, temporary: Path):
        self.repository = repository
        self.temporary = temporary
        self.action = yaml.safe_load((repository / "action.yml").read_text())
        self.path = os.environ["PATH"]

    def run(self, workspace: Path, inputs: dict) -> dict:
        known = self.action["inputs"]
        assert not set(inputs) - set(known), "an input that action.yml does not have"
        values = {name: inputs.get(name, one.get("default", "")) for name, one in known.items()}
        contexts = {f"inputs.{name}": value for name, value in values.items()}
        log, code = "", 0
        for number, step in enumerate(self.action["runs"]["steps"]):
            assert step["shell"] == "bash", "each step of a composite action names its shell"
            code, text, outputs = self.step(number, step, workspace, contexts)
            log += text
            for name, value in outputs.items():
                contexts[f"steps.{step.get('id')}.outputs.{name}"] = value
            if code:
                break
        outputs = {name: self.expand(one["value"], contexts) for name, one in self.action["outputs"].items()}
        return {"code": code, "log": log, **outputs}

    @staticmethod
    def expand(text: str, contexts: dict) -> str:
        return re.sub(r"\$\{\{\s*([\w.-]+)\s*\}\}", lambda match: contexts.get(match[1], ""), text)

    def step(self, number: int, step: dict, workspace: Path, contexts: dict):
        files = {name: self.temporary / f"{name.lower()}-{number}"
                 for name in ("GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_ENV", "GITHUB_STEP_SUMMARY")}
        for file in files.values():
            file.write_text("")
        script = self.temporary / f"step-{number}.sh"
        assert "${{" not in step["run"], "an expression inside a script runs what an input says"
        script.write_text(step["run"])
        own = {name: self.expand(value, contexts) for name, value in step.get("env", {}).items()}
        environment = {**os.environ, **own, **{name: str(file) for name, file in files.items()},
                       "PATH": self.path, "GITHUB_ACTION_PATH": str(self.repository),
                       "GITHUB_WORKSPACE": str(workspace), "RUNNER_TEMP": str(self.temporary)}
        done = subprocess.run(["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", str(script)],
                              cwd=workspace, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        for line in files["GITHUB_PATH"].read_text().splitlines():
            self.path = f"{line}{os.pathsep}{self.path}"
        outputs = dict(line.split("=", 1) for line in files["GITHUB_OUTPUT"].read_text().splitlines())
        return done.returncode, done.stdout + done.stderr, outputs


def annotations(log: str) -> list:
    """(level, file, line, title) of each workflow command."""
    found = []
    for line in log.splitlines():
        match = re.match(r"::(error|warning|notice) (.*?)::", line)
        if match:
            properties = dict(part.split("=", 1) for part in match[2].split(","))
            file = properties["file"].replace("%2C", ",").replace("%3A", ":").replace("%25", "%")
            found.append((match[1], file, int(properties["line"]), properties["title"]))
    return found


def workspace(files: dict, parent: Path) -> Path:
    top = Path(tempfile.mkdtemp(dir=parent))
    for name, text in files.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)
    return top


def main() -> int:
    repository = Path(sys.argv[1]).resolve()
    tally = Tally()
    with tempfile.TemporaryDirectory() as name:
        temporary = Path(name)
        runner = Runner(repository, temporary)

        def case(title, files, inputs, check):
            top = workspace(files, temporary)
            result = runner.run(top, inputs)
            fault = None
            try:
                check(result, top)
            except AssertionError as wrong:
                fault = str(wrong)
            tally.count(title, fault, result["log"])

        def clean(result, _):
            assert (result["code"], result["exit-code"]) == (0, "0"), result
            assert (result["errors"], result["warnings"]) == ("0", "0"), result
            assert not [one for one in annotations(result["log"]) if one[0] != "notice"]
        case("a clean workspace", {"manifests/partner.yaml": GOOD}, {}, clean)

        def bad(result, _):
            assert (result["code"], result["exit-code"], result["errors"]) == (1, "1", "1"), result
            assert ("error", "manifests/partner.yaml", 9, "unknown-field") in annotations(result["log"])
        case("an error", {"manifests/partner.yaml": BAD}, {"paths": "manifests"}, bad)

        def below(result, top):
            assert (result["code"], result["errors"]) == (1, "1"), result
            assert ("error", "team a/x, y/partner.yaml", 9, "unknown-field") in annotations(result["log"])
            sarif = json.loads((top / result["sarif"]).read_text())
            places = {one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
                      for one in sarif["runs"][0]["results"]}
            assert places == {"team%20a/x%2C%20y/partner.yaml"} or places == {"team%20a/x,%20y/partner.yaml"}, places
        case("a working directory, paths with blanks, SARIF",
             {"team a/x, y/partner.yaml": BAD, "other/partner.yaml": BAD, "team a/egress-lint.yaml": "version: 1\n"},
             {"working-directory": "team a/", "paths": "x, y\n", "sarif": "out/report.sarif"}, below)

        def never(result, _):
            assert (result["code"], result["exit-code"], result["errors"]) == (0, "0", "1"), result
        case("fail-on", {"a.yaml": BAD}, {"fail-on": "never"}, never)

        def options(result, _):
            assert (result["code"], result["warnings"]) == (0, "0"), result
        case("further options", {"a.yaml": TWICE}, {"arguments": "--exclude\na.yaml\n--allow-empty"}, options)

        def configured(result, _):
            assert (result["code"], result["errors"]) == (2, "1"), result
            assert any(one[:2] == ("error", "sub/egress-lint.yaml") for one in annotations(result["log"]))
        case("the nearest configuration is read, and its mistakes have a place",
             {"sub/deep/a.yaml": GOOD, "sub/egress-lint.yaml": "version: 1\nnonsense: 1\n"},
             {"working-directory": "sub/deep"}, configured)

        def nothing(result, _):
            assert (result["code"], result["exit-code"]) == (3, "3"), result
        case("nothing to check", {"a.yaml": "a: b\n"}, {}, nothing)

        def injected(result, top):
            assert not (top / "owned").exists(), "an input was run"
        case("inputs are never run", {"a.yaml": GOOD},
             {"paths": "$(touch owned)\n`touch owned`\n; touch owned", "istio-version": "1.30; touch owned",
              "config": "$(touch owned)"}, injected)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
