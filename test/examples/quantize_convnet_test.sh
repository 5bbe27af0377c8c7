#!/usr/bin/env bash
# The example trains a net, and in 8 bits it is as often right.
#   test/examples/quantize_convnet_test.sh PATH_TO_QUANTIZE_CONVNET
set -uo pipefail
program=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() {
  echo "FAILED: $*"
  cat out
  exit 1
}
OMP_NUM_THREADS=1 "$program" >out 2>&1 || fail "a run"
[ "$(grep -c right out)" -eq 4 ] || fail "four nets are compared"
# Lines end with: ... NN.NN % right, ...
awk '{ match($0, /[0-9.]+ % right/); share[NR] = substr($0, RSTART) + 0 }
  END { exit !(share[1] > 90 && share[2] > share[1] - 0.2 && share[3] > share[1] - 1.5 && share[4] > share[1] - 1.5) }' out ||
  fail "8 bits must lose at most 1.5 % of the images"
"$program" nowhere >out 2>&1 && fail "a folder that is not there was taken"
grep -q "nowhere" out || fail "the message names the folder"
echo "quantize_convnet: all passed"
