#!/usr/bin/env bash
# The example draws digits, learns them, saves the net, and refuses what it cannot use.
#   test/examples/mnist_test.sh PATH_TO_MNIST
set -uo pipefail
mnist=$(realpath "$1")
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
run() { OMP_NUM_THREADS=1 "$mnist" --device cpu "$@" >out 2>err; }
# expect CODE WHAT TEXT ARGUMENTS...: exit code, and words on stderr.
expect() {
  local code=$1 what=$2 text=$3 got
  shift 3
  run "$@"
  got=$?
  [ "$got" -eq "$code" ] || fail "$what: exit code $got, expected $code"
  grep -q -- "$text" err || fail "$what: expected a message with '$text'"
}

# Learning: ten kinds of digits, a tenth of them right by chance.
run --draw 1600 digits || fail "drawing digits"
run digits --epochs 2 --save net.pt || fail "a first run"
awk '/^epoch 2:/ { right = $5 } END { exit !(right > 85) }' out || fail "after 2 epochs 85 % must be right"
[ -s net.pt ] || fail "no net was saved"
cp out first

# The same seed gives the same net, whatever the workers; another seed another.
run digits --epochs 2 --workers 3 && diff <(grep ^epoch first) <(grep ^epoch out) >/dev/null || fail "workers change the result"
run digits --epochs 2 --seed 2 && ! diff <(grep ^epoch first) <(grep ^epoch out) >/dev/null || fail "the seed has no effect"

# Digits of its own when no folder is named.
run --epochs 0 || fail "a run without a folder"
[ -s drawn-digits/train-images-idx3-ubyte ] || fail "no digits were drawn"

# What cannot be used.
expect 2 "folder that is not there" "nowhere/train-images-idx3-ubyte" nowhere
head -c 1000 digits/train-images-idx3-ubyte >cut && mv cut digits/train-images-idx3-ubyte
expect 2 "damaged file" "is damaged" digits
expect 2 "option without value" "needs a value" --epochs
expect 2 "no number" "whole number" --epochs many
expect 2 "unknown option" "no option --fast" --fast
expect 2 "unknown device" "cannot be used" --device nowhere

[ "$failures" -eq 0 ] && echo "mnist: all passed"
exit "$failures"
