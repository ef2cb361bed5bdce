#!/bin/bash
# A swarm of many nodes in four network namespaces behind a network that loses, and the judgement of what they wrote down.
#
#   eng/swarm.sh LAB [ROUNDS]
#
# LAB is a folder with the command `lab`: `lab up N loss=P --index X --seed S`, `lab run NODE COMMAND…`, `lab down`; node I has
# the address 10.88.X.I, and the environment's LAB is the prefix of its namespaces. Needs root on Linux and a built
# tools/qsm (Release). Each round has a seed of its own and prints the reports of the four processes and the judgement; the
# script ends with 0 when all rounds held. The environment says more:
#
#   NODES=100 LOSS=2 RATE=5 SECONDS_LONG=10 SEED=1 OUT=artifacts/swarm OPTIONS="--topics 1 --each 1"
set -u
lab=$1/lab rounds=${2:-1} index=77
nodes=${NODES:-100} loss=${LOSS:-2} rate=${RATE:-5} seconds=${SECONDS_LONG:-10} first_seed=${SEED:-1}
root=$(cd "$(dirname "$0")/.." && pwd)
qsm=$root/artifacts/bin/qsm/release/qsm.dll
out=${OUT:-$root/artifacts/swarm}
each=$((nodes / 4)) service=10.88.$index.1:7400 failed=0
export LAB=qswarm$$-
trap '"$lab" down >/dev/null' EXIT

for ((round = 1; round <= rounds; round++)); do
  seed=$((first_seed + round - 1)) folder=$out/$round processes=()
  mkdir -p "$folder" && rm -f "$folder"/*
  "$lab" up 4 "loss=$loss" --index $index --seed $seed >/dev/null || exit 1
  "$lab" run 1 dotnet "$qsm" gms --listen $service --security none --heartbeat 3 2>"$folder/gms.log" & gms=$!
  until grep -qs listening "$folder/gms.log"; do
    kill -0 $gms || exit 1
    sleep 0.1
  done
  for i in 1 2 3 4; do
    # shellcheck disable=SC2086
    "$lab" run $i dotnet "$qsm" swarm --gms $service --interface 10.88.$index.$i --security none --json --seed $seed \
      --nodes $each --of $((4 * each)) --first $(((i - 1) * each)) --rate "$rate" --seconds "$seconds" \
      --records "$folder/$i.records" ${OPTIONS:-} >"$folder/$i.json" 2>"$folder/$i.log" & processes+=($!)
  done
  for i in 1 2 3 4; do
    wait "${processes[i - 1]}" || { echo "round $round: process $i failed: $(tail -1 "$folder/$i.log")"; failed=1; }
  done
  "$lab" stats >"$folder/network.json"
  kill -INT $gms
  wait $gms
  cat "$folder"/[1-4].json
  dotnet "$qsm" swarm check --json "$folder"/[1-4].records || failed=1
done
exit $failed
