#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
#
# The network of the demonstration, sourced by demo.sh: a client and a server, each in a namespace,
# and between them a third one with the other ends of their cables, where the router runs.
#
#     client 10.1.0.2 ---- lan [router] wan ---- 192.0.2.10 server
#                              watch 169.254.77.2 ---- 169.254.77.1 host, which reads the metrics

client=millrace-demo-client
router=millrace-demo-router
server=millrace-demo-server
server_address=192.0.2.10
file_megabytes=40
watch_address=169.254.77.2
servers=()

in_client() { ip netns exec "$client" "$@"; }
in_router() { ip netns exec "$router" env MILLRACE_DEMO_LISTEN="$watch_address:0" "$@"; }
in_server() { ip netns exec "$server" "$@"; }

# cable <namespace> <address> <mac> <port> <port's address> <port's mac> <network behind it>
cable() {
  ip netns add "$1"
  ip link add eth0 netns "$1" address "$3" type veth \
    peer name "$4" netns "$router" address "$6"
  ip -n "$1" link set lo up
  ip -n "$1" link set eth0 up
  ip -n "$router" link set "$4" up
  ip -n "$1" address add "$2/24" dev eth0
  ip -n "$1" route add "$7" via "$5"
  # Segments as a wire carries them, for the kernel's forwarding too: none holds several.
  ip netns exec "$1" ethtool -K eth0 tso off gso off gro off >/dev/null
}

make_network() {
  ip netns add "$router"
  ip -n "$router" link set lo up
  cable "$client" 10.1.0.2 02:00:00:00:01:02 lan 10.1.0.1 02:00:00:00:01:01 192.0.2.0/24
  cable "$server" "$server_address" 02:00:00:00:02:02 wan 192.0.2.1 02:00:00:00:02:01 10.1.0.0/24
  watch_cable
}

# The router's namespace has a loopback of its own, where no process here could read the metrics.
watch_cable() {
  ip link add millrace-demo type veth peer name watch netns "$router"
  ip address add 169.254.77.1/30 dev millrace-demo
  ip -n "$router" address add "$watch_address/30" dev watch
  ip link set millrace-demo up
  ip -n "$router" link set watch up
}

# The kernel is the router: what Millrace is compared with.
kernel_routes() {
  ip -n "$router" address add 10.1.0.1/24 dev lan
  ip -n "$router" address add 192.0.2.1/24 dev wan
  in_router sysctl -qw net.ipv4.ip_forward=1
}

kernel_stops() {
  in_router sysctl -qw net.ipv4.ip_forward=0
  ip -n "$router" address flush dev lan
  ip -n "$router" address flush dev wan
}

start_servers() {
  local www=$1/www
  mkdir -p "$www"
  head -c $((file_megabytes * 1024 * 1024)) /dev/urandom >"$www/large.bin"
  echo "hello from the other side" >"$www/index.html"
  echo "nobody should read this" >"$www/secret.txt"
  in_server python3 -m http.server --bind "$server_address" --directory "$www" 80 \
    >"$1/http.log" 2>&1 &
  servers+=($!)
  in_server iperf3 -s -B "$server_address" >"$1/iperf3.log" 2>&1 &
  servers+=($!)
}

# await_answer <seconds>: until the web server can be reached through the router.
await_answer() {
  local end=$((SECONDS + $1))
  until in_client curl -s -o /dev/null --max-time 1 "http://$server_address/"; do
    [ "$SECONDS" -lt "$end" ] || { echo "demo: no answer of the web server in $1 s" >&2; return 1; }
    sleep 0.1
  done
}

# Milliseconds, mean of 20.
ping_time() { in_client ping -q -c 20 -i 0.02 "$server_address" | awk -F/ '/^rtt/ { print $5 }'; }

# megabytes_per_second <file>: fetches the large file.
fetch() {
  local page=http://$server_address/large.bin
  in_client curl -sS --speed-limit 1 --speed-time 60 --max-time 900 -o "$1" \
    -w '%{speed_download}' "$page" |
    awk '{ printf "%.0f", $1 / 1e6 }'
}

# megabits_per_second <seconds>
transfer() {
  in_client timeout $(($1 + 20)) iperf3 -c "$server_address" -t "$1" -J | python3 -c '
import json, sys
end = json.load(sys.stdin)["end"]
print(round(end["sum_received"]["bits_per_second"] / 1e6))'
}

# Everything of an earlier demonstration.
remove_network() {
  local namespace pid
  for namespace in "$client" "$server" "$router"; do
    [ -e "/run/netns/$namespace" ] || continue
    for pid in $(ip netns pids "$namespace"); do kill "$pid" 2>/dev/null || true; done
    ip netns del "$namespace"
  done
  ip link del millrace-demo 2>/dev/null || true # the kernel takes its time after the namespace
}
