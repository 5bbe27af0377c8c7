#!/usr/bin/env bash
# The example learns, continues from its checkpoint, stops on a signal, and refuses what it cannot use.
#   test/examples/charlm_test.sh PATH_TO_CHARLM
set -uo pipefail
charlm=$(realpath "$1")
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
run() { "$charlm" --threads 1 "$@" >out 2>err; }
# expect CODE WHAT TEXT ARGUMENTS...: exit code, and words on stderr.
expect() {
  local code=$1 what=$2 text=$3 got
  shift 3
  run "$@"
  got=$?
  [ "$got" -eq "$code" ] || fail "$what: exit code $got, expected $code"
  grep -q -- "$text" err || fail "$what: expected a message with '$text'"
}
bits() { sed -n "s/^held out: \([0-9.]*\) bits per character $1 training$/\1/p" out; }

for i in $(seq 1 300); do
  echo "Line $i: the quick brown fox jumps over the lazy dog, and then over $((i * 7 % 50)) more."
done >text
small=(--width 32 --layers 1 --context 16 --batch 8 --sample 40)

# Learning.
run text "${small[@]}" --steps 60 --fresh || fail "a first run"
before=$(bits before) after=$(bits after)
awk -v b="${before:-0}" -v a="${after:-99}" 'BEGIN { exit !(b > 5 && b < 9 && a < b - 1) }' ||
  fail "held-out bits must fall by more than 1: '$before' before, '$after' after"
grep -q 'a sample' out || fail "no sample was written"
grep -q 'saved charlm.ckpt at step 60' out || fail "the checkpoint is not at step 60"

# Going on: from the same place, with the steps counted on.
run text --steps 5 --sample 0 || fail "a second run"
grep -q 'continuing from charlm.ckpt, step 60' out || fail "the second run does not continue"
grep -q 'saved charlm.ckpt at step 65' out || fail "the second run does not count on"
awk -v a="${after:-0}" -v b="$(bits before)" 'BEGIN { exit !(a == b) }' || fail "the model is not the one that was saved"

# The same seed gives the same model, whatever ran before.
run text "${small[@]}" --steps 5 --seed 7 --fresh --checkpoint a && run text "${small[@]}" --steps 5 --seed 7 --fresh --checkpoint b
cmp -s a b || fail "two runs with one seed differ"

# A run in two parts equals a run in one, but for the learning rate, which follows the run: nothing else is lost.
run text --steps 0 --checkpoint a --sample 0 && cmp -s a b || fail "loading and saving changes the checkpoint"

# A signal saves and leaves.
"$charlm" --threads 1 text "${small[@]}" --steps 100000000 --checkpoint c >out 2>err &
pid=$!
for _ in $(seq 200); do grep -q ' steps ' out && break; sleep 0.05; done
kill -TERM "$pid"
wait "$pid"
[ $? -eq 143 ] || fail "SIGTERM: exit code is not 143"
grep -q '^saved c at step' out && run text --steps 1 --sample 0 --checkpoint c || fail "SIGTERM: no usable checkpoint"

# What cannot be used.
expect 2 "unknown option" "unknown option --frobnicate" --frobnicate
expect 2 "option without value" "needs a value" text --steps
expect 2 "no number" "whole number" text --steps many
expect 2 "missing file" "cannot read nowhere.txt" nowhere.txt
: >empty
expect 2 "empty file" "empty is empty" empty
head -c 4000 "$charlm" >binary
expect 2 "binary file" "binary is binary" binary
expect 2 "folder" "is a folder" .
echo short >short
expect 2 "short text" "give more text" short --fresh --checkpoint d
if [ "$(id -u)" -ne 0 ]; then
  cp text secret && chmod 0 secret
  expect 2 "unreadable file" "cannot read secret" secret
fi
expect 2 "unknown device" "takes cpu, cuda or cuda:N" text --device tpu
if ! ls /dev/nvidia[0-9]* >/dev/null 2>&1; then
  expect 2 "no GPU" "--device cuda cannot be used: ." text --device cuda
fi
expect 2 "another shape" "has --width 32, not 64" text --width 64
head -c 3000 charlm.ckpt >cut
expect 2 "truncated checkpoint" "cut short or damaged" text --checkpoint cut
{ head -c 5000 charlm.ckpt; printf 'X'; tail -c +5002 charlm.ckpt; } >flipped
expect 2 "damaged checkpoint" "cut short or damaged" text --checkpoint flipped
expect 2 "foreign checkpoint" "not a checkpoint of charlm" text --checkpoint binary
expect 2 "no place for a checkpoint" "cannot write a checkpoint" text --checkpoint nowhere/x
run --help || fail "--help"

[ "$failures" -eq 0 ] && echo OK
exit $((failures > 0))
