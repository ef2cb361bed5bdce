#!/usr/bin/env bash
# A transaction of etcd that compares the VALUE of a key which does not exist.
#
# Guess:    EQUAL fails and NOT_EQUAL succeeds: a key without a value does not have this value.
# Behavior: both fail. Only a comparison of VERSION or CREATE with 0 finds out that the key is missing.
# Seen:     etcd 3.4.23 (Debian 12), over its HTTP gateway.
set -euo pipefail
command -v etcd >/dev/null && command -v curl >/dev/null || { echo "skipped: etcd or curl is missing"; exit 77; }
folder=$(mktemp -d)
port=$((20000 + RANDOM % 20000)); peer=$((port + 1))
etcd --data-dir "$folder/data" --listen-client-urls "http://127.0.0.1:$port" --advertise-client-urls "http://127.0.0.1:$port" \
    --listen-peer-urls "http://127.0.0.1:$peer" --initial-advertise-peer-urls "http://127.0.0.1:$peer" \
    --initial-cluster "default=http://127.0.0.1:$peer" > "$folder/log" 2>&1 &
server=$!
trap 'kill $server; wait $server 2>/dev/null; rm -rf "$folder"' EXIT
for _ in $(seq 100); do curl -sf "http://127.0.0.1:$port/health" | grep -q true && break; sleep 0.1; done

key=$(printf missing | base64); value=$(printf x | base64)
compare() {
    curl -sf "http://127.0.0.1:$port/v3/kv/txn" -d "{\"compare\":[{\"key\":\"$key\",\"target\":\"$1\",\"result\":\"$2\",$3}]}" \
        | grep -q '"succeeded":true' && echo yes || echo no
}
equal=$(compare VALUE EQUAL "\"value\":\"$value\""); other=$(compare VALUE NOT_EQUAL "\"value\":\"$value\"")
version=$(compare VERSION EQUAL '"version":"0"')
echo "$(etcd --version | head -n 1): VALUE EQUAL $equal, VALUE NOT_EQUAL $other, VERSION EQUAL 0 $version"
if [ "$equal $other $version" = "no no yes" ]; then
    echo "as found: of a missing key, neither comparison of a value succeeds"
else
    echo "changed: expected no, no and yes"
    exit 1
fi
