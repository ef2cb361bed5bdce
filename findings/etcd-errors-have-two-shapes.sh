#!/usr/bin/env bash
# What the HTTP gateway of etcd answers when a cluster of two has lost one member: once to a plain call, once to a streaming one.
#
# Guess:    "error" has the same type in both answers.
# Behavior: the plain answer has a text, the streamed one an object with the gRPC code, the HTTP code and the message.
# Seen:     etcd 3.4.23 (Debian 12).
set -euo pipefail
command -v etcd >/dev/null && command -v curl >/dev/null || { echo "skipped: etcd or curl is missing"; exit 77; }
folder=$(mktemp -d)
base=$((20000 + RANDOM % 20000))
member() {
    etcd --name "$1" --data-dir "$folder/$1" --listen-client-urls "http://127.0.0.1:$2" --advertise-client-urls "http://127.0.0.1:$2" \
        --listen-peer-urls "http://127.0.0.1:$3" --initial-advertise-peer-urls "http://127.0.0.1:$3" \
        --initial-cluster "one=http://127.0.0.1:$((base + 1)),two=http://127.0.0.1:$((base + 3))" > "$folder/$1.log" 2>&1 &
}
member one "$base" $((base + 1)); one=$!
member two $((base + 2)) $((base + 3)); two=$!
trap 'kill $one $two 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$folder"' EXIT
for _ in $(seq 200); do curl -sf "http://127.0.0.1:$base/health" | grep -q true && break; sleep 0.1; done

lease=$(curl -sf "http://127.0.0.1:$base/v3/lease/grant" -d '{"TTL":600}' | sed 's/.*"ID":"\([0-9]*\)".*/\1/')
kill "$two"; wait "$two" 2>/dev/null || true
for _ in $(seq 200); do curl -s "http://127.0.0.1:$base/health" | grep -q false && break; sleep 0.1; done
plain=$(curl -s --max-time 30 "http://127.0.0.1:$base/v3/kv/range" -d "{\"key\":\"$(printf missing | base64)\"}")
streamed=$(curl -s --max-time 30 "http://127.0.0.1:$base/v3/lease/keepalive" -d "{\"ID\":\"$lease\"}")
echo "plain:    $plain"
echo "streamed: $streamed"
case "$plain" in *'"error":"'*) first=text ;; *'"error":{'*) first=object ;; *) first=none ;; esac
case "$streamed" in *'"error":"'*) second=text ;; *'"error":{'*) second=object ;; *) second=none ;; esac
if [ "$first $second" = "text object" ]; then
    echo "as found: a plain error is a text, a streamed one is an object"
else
    echo "changed: expected a text and an object, seen $first and $second"
    exit 1
fi
