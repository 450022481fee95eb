#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
#
# `make run`: a client and a server talk through the router of orchestration/topologies/demo.yaml.
# One request is blocked, a worker is killed and one added in the middle of a transfer; beside it
# stand the figures of the kernel's own forwarding. Takes about half a minute.
#
#     demo.sh         the demonstration; KEEP=1 leaves it up
#     demo.sh stop    ends what KEEP=1 left
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "demo: needs root (namespaces, hugepages)" >&2; exit 1; }
  exec sudo KEEP="${KEEP:-}" "$0" "$@"
fi

. orchestration/host/demo_hosts.sh
millrace=build/release/bin/millrace
topology=orchestration/topologies/demo.yaml
folder=build/demo
transfer_seconds=8
began=$SECONDS
number=0

step() {
  number=$((number + 1))
  printf '%2d. [%3d s] %s\n' "$number" $((SECONDS - began)) "$*"
}

indented() { sed -u 's/^/            /'; }

failed() {
  echo "demo: $*" >&2
  exit 1
}

clean_up() {
  "$millrace" down demo >/dev/null 2>&1 || true
  for pid in "${servers[@]}"; do kill "$pid" 2>/dev/null || true; done
  remove_network
}

pid_of() {
  "$millrace" status demo --json | python3 -c '
import json, sys
print(next(a["pid"] for a in json.load(sys.stdin)["actors"] if a["name"] == sys.argv[1]))' "$1"
}

introduce() {
  cat <<'TEXT'
What this changes: it reserves hugepages if too few are free, makes three network namespaces
(millrace-demo-*) with two virtual cables and a third one to this host, by which the metrics are
read (millrace-demo, 169.254.77.1/30), and writes to build/demo. Nothing else of this machine is
touched, and all of that goes at the end. Back to before at any time: make undo
TEXT
}

measure_kernel() {
  kernel_routes
  await_answer 10
  kernel_ping=$(ping_time)
  kernel_fetch=$(fetch "$folder/large.kernel")
  kernel_transfer=$(transfer 2)
  kernel_stops
}

browse() {
  local answer
  answer=$(in_client curl -sS --max-time 60 "http://$server_address/")
  [ "$answer" = "hello from the other side" ] || failed "the web page did not arrive"
  echo "curl http://$server_address/            -> $answer" | indented
  if in_client curl -s --max-time 2 -o /dev/null "http://$server_address/secret.txt"; then
    failed "the secret page was not blocked"
  fi
  echo "curl http://$server_address/secret.txt  -> blocked by a rule of demo-block.rules" | indented
  our_ping=$(ping_time)
}

# The large file arrives whole; then the long transfer, hurt on the way and watched.
transfer_hurt() {
  our_fetch=$(fetch "$folder/large.millrace")
  cmp "$folder/www/large.bin" "$folder/large.millrace" || failed "the file arrived damaged"
  "$millrace" top demo --count $((transfer_seconds + 1)) | indented &
  local view=$!
  transfer "$transfer_seconds" >"$folder/transfer" &
  local load=$! victim
  sleep 2.5
  victim=$(pid_of front.0)
  step "kill -9 $victim (worker front.0), in the middle of the transfer"
  kill -9 "$victim"
  sleep 2
  step "one more worker: millrace scale demo front=3"
  "$millrace" scale demo front=3 | indented
  wait "$load" || failed "the transfer broke"
  wait "$view"
  our_transfer=$(cat "$folder/transfer")
}

compare() {
  printf '\n%-34s %12s %12s\n' "" "kernel" "millrace"
  printf '%-34s %12s %12s\n' "ping, round trip, ms" "$kernel_ping" "$our_ping"
  printf '%-34s %12s %12s\n' "curl, $file_megabytes MB, MB/s" "$kernel_fetch" "$our_fetch"
  printf '%-34s %12s %12s\n' "iperf3, one TCP stream, Mbit/s" "$kernel_transfer" "$our_transfer"
  cat <<TEXT

The kernel forwarded the same packets between the same namespaces, without looking into them.
Millrace copied each twice across the kernel's border and took it through five processes on
$(nproc) cores (ports of device afpacket; the GPU worker is a process on the CPU here).
A worker died and one was added during the iperf3 run.
TEXT
}

# The port of telemetry is free by default, so that topologies can stand side by side.
say_where_to_watch() {
  local file=/run/millrace/demo/telemetry.address  # there since `up` has returned
  [ -s "$file" ] || failed "telemetry does not say where it listens"
  echo "metrics: http://$(cat "$file")/metrics" | indented
  echo "to see it in Prometheus and Grafana: make monitor, in another terminal" | indented
}

keep_up() {
  trap - EXIT
  cat <<TEXT

It stays up (KEEP=1). Try:
  $millrace top demo
  ip netns exec $client curl http://$server_address/
  ip netns exec $client iperf3 -c $server_address
  $millrace scale demo deep=3
  make monitor
End it: orchestration/host/demo.sh stop
TEXT
}

if [ "${1:-}" = stop ]; then
  clean_up
  exit 0
fi
trap clean_up EXIT
introduce
rm -rf "$folder"
mkdir -p "$folder"
clean_up
step "three namespaces: client 10.1.0.2 -- router -- $server_address server (web, iperf3)"
make_network
start_servers "$folder"
step "the kernel as router: ping, curl, iperf3 for comparison"
measure_kernel
step "is this host ready? millrace doctor $topology --fix"
in_router "$millrace" doctor "$topology" --fix >"$folder/doctor.log" ||
  { cat "$folder/doctor.log"; failed "this host is not ready, see above"; }
sed -n 's/^did *//p' "$folder/doctor.log" | indented
step "Millrace as router: millrace up $topology"
in_router "$millrace" up "$topology" --detach | indented
say_where_to_watch
step "no GPU is used: group 'gpu' runs on its software device"
step "ping and curl through it"
await_answer 10
browse
step "a file of $file_megabytes MB, then iperf3 for $transfer_seconds s"
transfer_hurt
step "what became of the packets"
status=0
"$millrace" report demo || status=$?
compare
if [ -n "${KEEP:-}" ]; then
  keep_up
else
  step "all processes end"
  "$millrace" down demo | indented
fi
exit "$status"
