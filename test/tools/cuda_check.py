#!/usr/bin/env python3
"""tools/dev/cuda_check on a machine without a GPU: programs that only say what they were asked stand for the real ones."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

STEPS = ["plugin", "kernels", "operators", "conformance", "targets", "demo", "timings", "clients", "sanitizer", "races", "host", "emulated"]
PROGRAMS = ["test_cuda_plugin", "test_cuda", "conformance", "charlm", "bench_cuda_ops", "test_cuda_clients", "test_cuda_host", "test_cuda_emulated"]
TARGETS = r"""printf 'copy float\t3000\tGB/s\tmore\nsoftmax float\t2800\tGB/s\tmore\n'"""
# Two rows lose the device; what is behind the second one takes as long as it may.
ROWS = r"""case ${TENSOR_TEST_OP_AFTER:-} in
  '') echo 'left off after: add (the device is lost)'; exit 86 ;;
  add) echo 'left off after: mul (crashed)'; exit 86 ;;
  mul) trap 'echo "left off after: sub (stopped for time)"; exit 86' TERM; for _ in $(seq 600); do sleep 0.1; done ;;
esac
echo 'All tests passed'"""
SANITIZER = r"""while [[ $1 == -* || ! -x $1 ]]; do shift; done
echo "checked with $TENSOR_TEST_OP_SAMPLES samples and cache off: $PYTORCH_NO_CUDA_MEMORY_CACHING"
exec "$@" """


def script(path: Path, text: str) -> None:
    path.write_text("#!/usr/bin/env bash\n" + text + "\n")
    path.chmod(0o755)


def check(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if k not in ("TENSOR_TEST_OP_AFTER", "STEP_SECONDS", "PEER")}
    environment |= {"PATH": f"{folder}/bin:{environment['PATH']}", "BUILD_DIR": str(folder / "build"), "PEER": "none", **variables}
    return subprocess.run(
        [str(ROOT / "tools/dev/cuda_check"), "--built", *arguments], capture_output=True, text=True, env=environment)


def states(output: str) -> dict[str, str]:
    rows = [line.split() for line in output.splitlines()]
    return {row[0]: row[1] for row in rows if len(row) > 1 and row[0] in STEPS and row[1] in ("ok", "FAILED", "stopped")}


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in ("bin", "build"):
            (folder / part).mkdir()
        script(folder / "bin/nvidia-smi", "echo 'GPU 0: none at all'")
        script(folder / "bin/compute-sanitizer", SANITIZER)
        for program in PROGRAMS:
            script(folder / "build" / program, 'echo "$(basename "$0") $*"')
        script(folder / "build/bench_cuda_targets", TARGETS)
        script(folder / "build/test_ops", "echo 'All tests passed'")

        done = check(folder)
        assert done.returncode == 0, done.stdout + done.stderr
        assert states(done.stdout) == dict.fromkeys(STEPS, "ok"), done.stdout
        assert "0 targets missed" in done.stdout and "not done" not in done.stdout, done.stdout
        assert "checked with 2 samples and cache off: 1" in (folder / "build/cuda_check/sanitizer.txt").read_text()
        assert "test_cuda_plugin [gpu]" in (folder / "build/cuda_check/plugin.txt").read_text()

        # A failure is counted, shown and does not keep others from their turn.
        script(folder / "build/test_cuda", "echo 'a kernel is wrong'; exit 3")
        (folder / "build/bench_cuda_ops").unlink()
        done = check(folder, "--steps", "kernels,timings,host")
        assert done.returncode == 2 and "a kernel is wrong" in done.stdout, done.stdout
        assert "bench_cuda_ops is not in" in done.stdout, done.stdout
        assert states(done.stdout) == {"kernels": "FAILED", "timings": "FAILED", "host": "ok"}, done.stdout

        # The operator table goes on behind rows that lose the device. What the time does not suffice for is named.
        script(folder / "build/test_ops", ROWS)
        start = time.monotonic()
        done = check(folder, "--seconds", "17", "--steps", "operators,host,clients")
        assert time.monotonic() - start < 30, "the call took longer than it was given"
        assert states(done.stdout) == {"operators": "stopped"}, done.stdout
        last = done.stdout.splitlines()[-1]
        assert last == "not done; goes on with: TENSOR_TEST_OP_AFTER=sub tools/dev/cuda_check --built --steps operators,clients,host", last
        done = check(folder, "--steps", "operators,host,clients", TENSOR_TEST_OP_AFTER="sub")
        assert done.returncode == 0 and set(states(done.stdout).values()) == {"ok"}, done.stdout

        # A program that never ends costs its step, and the next ones get their turn.
        script(folder / "build/test_cuda", "exec sleep 60")
        done = check(folder, "--steps", "kernels,clients", STEP_SECONDS="11")
        assert done.returncode == 1 and states(done.stdout) == {"kernels": "stopped", "clients": "ok"}, done.stdout
        assert done.stdout.splitlines()[-1] == "not done; goes on with: tools/dev/cuda_check --built --steps kernels", done.stdout

        script(folder / "bin/nvidia-smi", "exit 9")
        assert check(folder).returncode == 77


if __name__ == "__main__":
    main()
