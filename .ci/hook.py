"""Runs the pre-commit hook on a real git repository, as a user has it.

    hook.py REPOSITORY

Needs pre-commit, git and cargo; the hook is built from the repository's last commit.
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from cases import GOOD, Tally


def main() -> int:
    repository = Path(sys.argv[1]).resolve()
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=repository, capture_output=True, text=True, check=True)
    with tempfile.TemporaryDirectory() as name:
        top = Path(name) / "user"
        top.mkdir()
        environment = {**os.environ, "PRE_COMMIT_HOME": f"{name}/cache", "PRE_COMMIT_COLOR": "never",
                       # Dependencies that are built already are not built again.
                       "CARGO_TARGET_DIR": os.environ.get("CARGO_TARGET_DIR", str(repository / "target"))}

        def git(*arguments):
            identity = ["-c", "user.name=test", "-c", "user.email=test@localhost"]
            return subprocess.run(["git", *identity, *arguments], cwd=top, env=environment, capture_output=True, text=True)

        def commit(text):
            (top / "partner.yaml").write_text(text)
            git("add", "-A")
            done = git("commit", "-m", "a change")
            return done.returncode, done.stdout + done.stderr

        git("init", "--quiet", "--initial-branch", "main")
        (top / ".pre-commit-config.yaml").write_text(
            f"repos:\n- repo: {repository}\n  rev: {head.stdout.strip()}\n  hooks:\n  - id: egress-lint\n")
        git("add", "-A")
        install = subprocess.run([sys.executable, "-m", "pre_commit", "install", "--install-hooks"], cwd=top,
                                 env=environment, capture_output=True, text=True)
        tally = Tally()
        if install.returncode:
            tally.count("the installation", f"exit code {install.returncode}", install.stdout + install.stderr)
            return tally.end()
        for title, text, code, wanted in [
            ("a clean manifest", GOOD, 0, "Passed"),
            ("an unknown field", GOOD.replace("location:", "locatoin:"), 1, "locatoin"),
            ("the field mended", GOOD + "# mended\n", 0, "Passed"),
        ]:
            got, log = commit(text)
            right = (got == 0) == (code == 0) and wanted in log
            tally.count(title, None if right else f"exit code {got}", log)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
