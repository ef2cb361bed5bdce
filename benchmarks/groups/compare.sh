#!/bin/bash
# compare.sh PEERS QSM [ROUNDS] [SECONDS]: a group with total order beside those of corosync (CPG) and JGroups (SEQUENCER), interleaved.
# Three members, each in a network namespace of its own; one of them sends, or all. Needs root, corosync, libcpg-dev, gcc, Java 17.
#   PEERS   the folder with netns.sh and the jar of JGroups
#   QSM     the program qsm
# Prints a line for each run: messages a second at the slowest member, which include its own. Then, for each load, the medians, their range,
# and how many times as many messages QuickSilver moves.
set -eu
PEERS=$1 QSM=$2 ROUNDS=${3:-3} SECS=${4:-5} N=3
HERE=$(cd "$(dirname "$0")" && pwd)
OUT=$(mktemp -d)
PIDS=()
stop() { local p; for p in "${PIDS[@]:-}"; do [ -z "$p" ] || kill "$p" 2>/dev/null || true; done; wait 2>/dev/null || true; PIDS=(); }
trap 'stop; rm -rf "$OUT"' EXIT
start() { local node=$1 log=$2; shift 2; ip netns exec "n$node" "$@" >"$OUT/$log" 2>&1 & PIDS+=($!); }
wait_for() { local end=$((SECONDS + 30)); until grep -q "$2" "$OUT/$1" 2>/dev/null; do
             [ $SECONDS -lt $end ] || { echo "no '$2' in $1" >&2; tail -3 "$OUT/$1" >&2; return 1; }; sleep 0.1; done; }
role() { if [ "$1" -le "$2" ]; then echo "$3"; else echo "$4"; fi; }

quicksilver() { local i size=$1 senders=$2
  start 1 gms.log "$QSM" gms --listen 10.77.0.1:7411 --security none
  wait_for gms.log listening
  for ((i = 1; i <= N; i++)); do
    # shellcheck disable=SC2046
    start $i m$i.log "$QSM" perf group flow --gms 10.77.0.1:7411 --interface 10.77.0.$i --security none \
      --members $N --senders "$senders" --order total --size "$size" --seconds "$SECS" $(role $i "$senders" --send "")
    # The first one is the oldest.
    sleep 1
  done
  for ((i = 1; i <= N; i++)); do wait "${PIDS[$i]}"; done
  sed -n 's/.*"messagesPerSecond":\([0-9]*\).*/\1/p' "$OUT"/m?.log; }

corosync_cpg() { local i size=$1 senders=$2
  { printf 'totem {\n version: 2\n cluster_name: qs\n transport: udp\n crypto_cipher: none\n crypto_hash: none\n netmtu: 8900\n'
    printf ' window_size: 300\n max_messages: 100\n interface {\n mcastaddr: 239.77.0.1\n mcastport: 5405\n ttl: 1\n }\n}\n'
    printf 'system {\n sched_rr: no\n move_to_root_cgroup: no\n}\nlogging {\n to_stderr: yes\n to_syslog: no\n}\nnodelist {\n'
    for ((i = 1; i <= N; i++)); do printf ' node {\n ring0_addr: 10.77.0.%d\n nodeid: %d\n name: n%d\n }\n' $i $i $i; done
    echo '}'; } >"$OUT/corosync.conf"
  for ((i = 1; i <= N; i++)); do
    start $i daemon$i.log unshare -m sh -c 'mount -t tmpfs none /run && mkdir -p /var/lib/corosync \
      && mount -t tmpfs none /var/lib/corosync && exec corosync -f -c "$1"' sh "$OUT/corosync.conf"; done
  for ((i = 1; i <= N; i++)); do wait_for daemon$i.log "Sync members\[$N\]"; done
  sleep 1
  for ((i = 1; i <= N; i++)); do start $i m$i.log "$OUT/cpgmember" $N "$size" "$SECS" "$(role $i "$senders" send listen)"; done
  for ((i = 1; i <= N; i++)); do wait "${PIDS[$((N + i - 1))]}"; done
  sed -n 's/^rate //p' "$OUT"/m?.log; }

jgroups() { local i size=$1 senders=$2
  for ((i = 1; i <= N; i++)); do
    start $i m$i.log java -Xms256m -Xmx1g -XX:+UseG1GC -Djava.net.preferIPv4Stack=true \
      -Dbind=10.77.0.$i -Djgroups.bind_addr=10.77.0.$i -Dgroup=239.77.0.1 \
      -cp "$JAR:$OUT" GroupMember "$HERE/sequencer.xml" $N "$size" "$SECS" "$(role $i "$senders" send listen)"
    sleep 2
  done
  for ((i = 1; i <= N; i++)); do wait "${PIDS[$((i - 1))]}"; done
  sed -n 's/^rate //p' "$OUT"/m?.log; }

JAR=$(ls "$PEERS"/jgroups-*.jar | tail -1)
gcc -O2 -Wall -Wextra -o "$OUT/cpgmember" "$HERE/cpgmember.c" -lcpg
javac -d "$OUT" -cp "$JAR" "$HERE/GroupMember.java"
"$PEERS/netns.sh" up $N
for ((round = 1; round <= ROUNDS; round++)); do
  for size in 1000 100; do for senders in 1 $N; do for system in quicksilver corosync_cpg jgroups; do
    rm -f "$OUT"/m?.log
    rate=$( ($system $size $senders || true; stop) | sort -n | head -1)
    echo "round=$round size=$size senders=$senders system=$system msg_per_s=${rate:-failed}" | tee -a "$OUT/all"
  done; done; done
done
awk '
  {
    for (i = 1; i <= NF; i++) { split($i, pair, "="); value[pair[1]] = pair[2] }
    load = value["size"] " B, " value["senders"] " of 3 send"
    if (!(load in rounds)) loads[++count] = load
    rounds[load] = value["round"]
    rate[load, value["system"], value["round"]] = value["msg_per_s"] + 0
  }
  function median(load, peer,   i, j, m, t, x) {
    for (i = 1; i <= rounds[load]; i++) if (rate[load, peer, i] > 0) x[++m] = rate[load, peer, i]
    for (i = 1; i <= m; i++) for (j = i + 1; j <= m; j++) if (x[j] < x[i]) { t = x[i]; x[i] = x[j]; x[j] = t }
    low = x[1]; high = x[m]
    return x[int((m + 1) / 2)]
  }
  END {
    for (k = 1; k <= count; k++) {
      own = median(loads[k], "quicksilver")
      printf "| %s | %d (%d to %d) |", loads[k], own, low, high
      for (s = 1; s <= 2; s++) {
        other = median(loads[k], s == 1 ? "corosync_cpg" : "jgroups")
        printf " %d (%d to %d) | %.1f |", other, low, high, (other > 0 ? own / other : 0)
      }
      print ""
    }
  }' "$OUT/all"
