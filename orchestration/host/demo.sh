#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
#
# `make run`: records real traffic between two network namespaces, sends it through the topology of
# orchestration/topologies/demo.yaml, kills a worker and adds one meanwhile, and says what became of
# every packet. Takes about half a minute.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "demo: needs root (namespaces, hugepages)" >&2; exit 1; }
  exec sudo "$0" "$@"
fi

millrace=build/release/bin/millrace
topology=orchestration/topologies/demo.yaml
folder=build/demo
client=millrace-demo-client
server=millrace-demo-server
helpers=()
began=$SECONDS
number=0

step() {
  number=$((number + 1))
  printf '%2d. [%3d s] %s\n' "$number" $((SECONDS - began)) "$*"
}

clean_up() {
  "$millrace" down demo >/dev/null 2>&1 || true
  for pid in "${helpers[@]}"; do kill "$pid" 2>/dev/null || true; done
  ip netns del "$client" 2>/dev/null || true
  ip netns del "$server" 2>/dev/null || true
}
trap clean_up EXIT

make_namespaces() {
  ip netns add "$client"
  ip netns add "$server"
  ip link add lan0 netns "$client" address 02:00:00:00:01:02 type veth \
    peer name wan0 netns "$server" address 02:00:00:00:02:02
  ip -n "$client" address add 10.1.0.2/24 dev lan0
  ip -n "$server" address add 192.0.2.10/24 dev wan0
  # Segments as a wire carries them: no offload puts several into one frame.
  ip -n "$client" link set lan0 gso_max_segs 1 up
  ip -n "$server" link set wan0 gso_max_segs 1 up
  ip -n "$client" link set lo up
  ip -n "$server" link set lo up
  ip -n "$client" route add 192.0.2.0/24 dev lan0
  ip -n "$server" route add 10.1.0.0/24 dev wan0
}

make_pages() {
  mkdir -p "$folder/www"
  for kilobytes in 1 8 40 120; do
    head -c $((kilobytes * 1024)) /dev/urandom | base64 >"$folder/www/page-$kilobytes.txt"
  done
  echo "nobody should read this" >"$folder/www/secret.txt"
}

start_servers() {
  ip netns exec "$server" python3 -m http.server --bind 192.0.2.10 --directory "$folder/www" 80 \
    >"$folder/http.log" 2>&1 &
  helpers+=($!)
  ip netns exec "$server" dnsmasq --no-daemon --no-hosts --no-resolv --conf-file=/dev/null \
    --listen-address=192.0.2.10 --bind-interfaces --address=/example.org/192.0.2.10 \
    >"$folder/dns.log" 2>&1 &
  helpers+=($!)
  ip netns exec "$client" tcpdump -q -i lan0 -w "$folder/all.pcap" >"$folder/tcpdump.log" 2>&1 &
  recorder=$!
  helpers+=("$recorder")
  for _ in $(seq 50); do
    grep -q listening "$folder/tcpdump.log" &&
      ip netns exec "$client" curl -s -o /dev/null http://192.0.2.10/ && return
    sleep 0.1
  done
  echo "demo: the web server does not answer: $folder/http.log" >&2
  exit 1
}

browse() {
  local page
  for page in page-1 page-8 page-40 page-120 secret; do
    ip netns exec "$client" curl -s -o /dev/null "http://192.0.2.10/$page.txt"
    ip netns exec "$client" dig +short +time=1 +tries=1 @192.0.2.10 "$page.example.org" >/dev/null
  done
  ip netns exec "$client" ping -q -c 5 -i 0.05 192.0.2.10 >/dev/null
  sleep 0.3
  kill "$recorder"
  wait "$recorder" 2>/dev/null || true
}

split_directions() {
  tcpdump -q -r "$folder/all.pcap" -w "$folder/lan.pcap" ether src 02:00:00:00:01:02 2>/dev/null
  tcpdump -q -r "$folder/all.pcap" -w "$folder/wan.pcap" ether src 02:00:00:00:02:02 2>/dev/null
}

pid_of() {
  "$millrace" status demo --json | python3 -c '
import json, sys
print(next(a["pid"] for a in json.load(sys.stdin)["actors"] if a["name"] == sys.argv[1]))' "$1"
}

# Until both streams have been received whole and nothing is in flight; at most a minute.
await_end() {
  local _
  for _ in $(seq 120); do
    sleep 0.5
    "$millrace" audit demo --json | python3 -c '
import json, sys
audit = json.load(sys.stdin)
sys.exit(0 if audit["received"] == 600000 and audit["in_flight"] == 0 else 1)' && return
  done
  echo "demo: the traffic did not end within a minute" >&2
  exit 1
}

echo "This reserves hugepages (make undo gives them back), makes two network namespaces for a few"
echo "seconds, and writes to $folder. Nothing else of this machine is changed."
rm -rf "$folder"
step "hugepages"
orchestration/host/hugepages.sh 256
step "a web server, DNS and ping between two namespaces, recorded by tcpdump"
clean_up
make_namespaces
make_pages
start_servers
browse
split_directions
step "the topology: $topology"
"$millrace" up "$topology" --detach
step "no GPU is used: group 'gpu' runs on its software device"
sleep 2
victim=$(pid_of front.0)
step "kill -9 $victim (worker front.0)"
kill -9 "$victim"
sleep 1
step "one more worker: millrace scale demo front=3"
"$millrace" scale demo front=3
step "traffic goes on until all 600000 packets have been through"
await_end
step "what became of them"
"$millrace" status demo
status=0
"$millrace" report demo || status=$?
step "all processes end"
"$millrace" down demo
echo "Captures of what came out: $folder/lan-out.pcap, $folder/wan-out.pcap"
exit "$status"
