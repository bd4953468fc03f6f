#!/usr/bin/env bash
# The replica math against Kubernetes' own, on one core in one run: ./dev bench scaler
#
# Ours is build/release/bin/scaler_bench (BENCH overrides); theirs is peers/replica_math, built with Go 1.24 or newer.
# Prints a table and the goals, writes test/bench/results/scaler.json. Exit status 1 when a goal is missed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

bench=${BENCH:-build/release/bin/scaler_bench}
peer=$PWD/build/peers/replica_math
core=$(($(nproc) - 1))
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

[ -x "$bench" ] || { echo "run_scaler.sh: $bench is not built" >&2; exit 1; }

go_is_new_enough() {
  local version
  version=$(go env GOVERSION 2>/dev/null | sed -nE 's/^go1\.([0-9]+).*/\1/p') && [ -n "$version" ] && [ "$version" -ge 24 ]
}

if go_is_new_enough; then
  echo "bench: building the controller of Kubernetes 1.34.4" >&2
  mkdir -p "$(dirname "$peer")"
  (cd test/bench/peers/replica_math && go build -o "$peer" .)
else
  echo "bench: *** NO GO 1.24 OR NEWER: the controller of Kubernetes is NOT measured, only ours is shown ***" >&2
  peer=
fi

ours() {
  taskset -c "$core" "$bench" --benchmark_min_time=0.3 --benchmark_repetitions=3 --benchmark_format=json \
    --benchmark_out="$work/$1.json" --benchmark_out_format=json >/dev/null
}

# Ours before and after, so that a machine that slows down meanwhile shows.
echo "bench: measuring on core $core" >&2
ours before
[ -z "$peer" ] || taskset -c "$core" env GOMAXPROCS=1 "$peer" >"$work/peer.jsonl"
ours after
exec python3 test/bench/scaler_report.py "$work" test/bench/results/scaler.json
