#!/usr/bin/env bash
# The example shows a small net that PyTorch saved, runs, times and profiles it, and refuses what it cannot use.
#   test/examples/tensor_run_test.sh PATH_TO_TENSOR_RUN
set -uo pipefail
program=$(realpath "$1")
net=$(realpath "$(dirname "$0")/data/net.pt")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
failures=0

fail() {
  echo "FAILED: $*"
  [ -s out ] && sed 's/^/  | /' out
  [ -s err ] && sed 's/^/  ! /' err
  failures=$((failures + 1))
}
run() { OMP_NUM_THREADS=1 "$program" "$@" >out 2>err; }
# shows WHAT TEXT ARGUMENTS...: runs, and words on stdout.
shows() {
  local what=$1 text=$2
  shift 2
  run "$@" || fail "$what"
  grep -qF -- "$text" out || fail "$what: expected '$text'"
}
# refuses WHAT TEXT ARGUMENTS...: exit code 2, and words on stderr.
refuses() {
  local what=$1 text=$2 got
  shift 2
  run "$@"
  got=$?
  [ "$got" -eq 2 ] || fail "$what: exit code $got, expected 2"
  grep -qF -- "$text" err || fail "$what: expected a message with '$text'"
}

# What the file holds: 4 * 3 + 3 and 3 * 2 + 2 parameters.
shows "methods" "forward(__torch__.Net self, Tensor x) -> Tensor" "$net"
shows "other methods" "scale(__torch__.Net self, Tensor x, float k=2" "$net"
shows "parameters" "23 parameters in 4 tensors" "$net" --no-run
shows "graph" "prim::GetAttr[name=\"first\"](%self" "$net" --graph --no-run

# Running: the net adds up its inputs and doubles the sum.
shows "random input" "Float[5, 2]" "$net" --input 'float32[5,4]'
shows "times" "20 runs: median" "$net" --input 'float32[5,4]' --time 20
shows "profile" "aten::linear" "$net" --input 'float32[5,4]' --profile --trace trace.json
[ -s trace.json ] || fail "no trace was written"
shows "frozen" "Float[1, 2]" "$net" --input 'float32[1,4]' --freeze
shows "optimized" "Float[1, 2]" "$net" --input 'float32[1,4]' --optimize
shows "method with a keyword" "Float[2]" "$net" --method scale --input 'float32[2]' --input k=0.5
shows "no tensors" "tuple of 2" "$net" --method count --input '[1,2,3]' --input str:abc
shows "plain result" "1: abc3" "$net" --method count --input '[1,2,3]' --input str:abc
run "$net" --input 'float32[5,4]' --seed 1 --full && cp out first
run "$net" --input 'float32[5,4]' --seed 1 --full && diff <(grep -v ' ms' first) <(grep -v ' ms' out) >/dev/null || fail "the seed does not settle the input"

# A result is an input again.
shows "saving" "saved result.pt" "$net" --input 'float32[5,4]' --output result.pt
shows "reading" "Float[5, 2]" "$net" --method scale --input result.pt

# What cannot be used.
refuses "no model" "which model?"
refuses "missing file" "nowhere.pt" nowhere.pt
refuses "unknown option" "no option --fast" "$net" --fast
refuses "unknown method" "no method 'nothing'" "$net" --method nothing
refuses "input of no kind" "is nothing known" "$net" --input what
refuses "input of no shape" "is no tensor" "$net" --input 'float32[a]'
refuses "wrong shape" "cannot be multiplied" "$net" --input 'float32[5,3]'
refuses "wrong type" "Expected a value of type 'Tensor" "$net" --input 3
refuses "number" "whole number" "$net" --time many

[ "$failures" -eq 0 ] && echo "tensor-run: all passed"
exit "$failures"
