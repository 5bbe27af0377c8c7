#!/usr/bin/env bash
# The example trains with one rank and with two, and says so.
#   test/examples/ddp_test.sh PATH_TO_TENSOR_LAUNCH PATH_TO_DDP
set -uo pipefail
launch=$(realpath "$1")
ddp=$(realpath "$2")
failures=0

fail() {
  echo "FAILED: $*"
  echo "$out" | sed 's/^/  | /'
  failures=$((failures + 1))
}

out=$("$ddp" --steps 20 2>&1) || fail "one rank without a launcher"
grep -q "ranks 1, steps 20" <<<"$out" || fail "one rank must be told"
out=$("$launch" --nproc-per-node 2 "$ddp" --steps 60 2>&1) || fail "two ranks"
grep -q "ranks 2, steps 60" <<<"$out" || fail "two ranks must be told"
grep -q "hidden behind" <<<"$out" || fail "what communication took must be told"
awk '$2 == "loss" { learned = $5 < $3 * 0.8 } END { exit !learned }' <<<"$out" || fail "the loss must fall"
out=$("$launch" --nproc-per-node 2 "$ddp" --steps none 2>&1) && fail "a number that is none"
grep -q "first failure: rank" <<<"$out" || fail "the launcher must name the first failure"

[ "$failures" -eq 0 ] && echo "ddp: all passed"
exit "$failures"
