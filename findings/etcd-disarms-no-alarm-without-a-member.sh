#!/usr/bin/env bash
# A request to etcd that deactivates the alarm NOSPACE and names no member.
#
# Guess:    it clears the alarm of all members, as "etcdctl alarm disarm" does, which names none either.
# Behavior: it succeeds and clears nothing: the member with the id 0 has no alarm. etcdctl first asks which members have one, and then
#           names each of them.
# Seen:     etcd 3.4.23 (Debian 12), over its HTTP gateway.
set -euo pipefail
command -v etcd >/dev/null && command -v curl >/dev/null || { echo "skipped: etcd or curl is missing"; exit 77; }
folder=$(mktemp -d)
port=$((20000 + RANDOM % 20000)); peer=$((port + 1))
etcd --data-dir "$folder/data" --listen-client-urls "http://127.0.0.1:$port" --advertise-client-urls "http://127.0.0.1:$port" \
    --listen-peer-urls "http://127.0.0.1:$peer" --initial-advertise-peer-urls "http://127.0.0.1:$peer" \
    --initial-cluster "default=http://127.0.0.1:$peer" --quota-backend-bytes 2097152 > "$folder/log" 2>&1 &
server=$!
trap 'kill $server; wait $server 2>/dev/null; rm -rf "$folder"' EXIT
for _ in $(seq 100); do curl -sf "http://127.0.0.1:$port/health" | grep -q true && break; sleep 0.1; done

ask() { curl -s "http://127.0.0.1:$port/v3/$1" -d "$2"; }
alarms() { ask maintenance/alarm '{"action":"GET"}'; }
value=$(head -c 400000 /dev/zero | base64 -w 0)
for _ in $(seq 20); do
    printf '{"key":"%s","value":"%s"}' "$(printf large | base64)" "$value" | curl -s "http://127.0.0.1:$port/v3/kv/put" -d @- \
        | grep -q 'space exceeded' && break
done

set_before=$(alarms | grep -c NOSPACE || true)
status=$(curl -s -o "$folder/answer" -w '%{http_code}' "http://127.0.0.1:$port/v3/maintenance/alarm" \
    -d '{"action":"DEACTIVATE","alarm":"NOSPACE"}')
set_without=$(alarms | grep -c NOSPACE || true)
member=$(alarms | sed -E 's/.*"alarms":\[\{"memberID":"([0-9]+)".*/\1/')
ask maintenance/alarm "{\"action\":\"DEACTIVATE\",\"alarm\":\"NOSPACE\",\"memberID\":\"$member\"}" > "$folder/answer"
set_with=$(alarms | grep -c NOSPACE || true)
echo "$(etcd --version | head -n 1): alarms $set_before; without a member status $status, alarms $set_without; with it alarms $set_with"
if [ "$set_before $status $set_without $set_with" = "1 200 1 0" ]; then
    echo "as found: without a member, the request succeeds and the alarm stays"
else
    echo "changed: expected 1; 200, 1; 0"
    exit 1
fi
