#!/usr/bin/env bash
# clients.sh: starts `loaderd executor` on a Unix socket and runs the Rust and the Python client against it.
. "$(dirname "$0")/lib.sh"
cd "$root"
tools/python-venv.sh
cargo build --locked --quiet --bin loaderd
cargo build --locked --quiet -p loaderd-example-client

folder=$(mktemp -d)
target/debug/loaderd executor --listen "unix:$folder/socket" 2>"$folder/log" &
executor=$!
trap '{ kill "$executor"; wait "$executor"; } 2>/dev/null || true; rm -rf "$folder"' EXIT
for _ in $(seq 100); do
  [ -S "$folder/socket" ] && break
  kill -0 "$executor" 2>/dev/null || { cat "$folder/log" >&2; die "the executor did not start"; }
  sleep 0.1
done

expected='value: {"customer":"AcmeCorporation","overdue":["2026-014","2026-022"],"total":579.5}'
check() { # NAME COMMAND...
  local output
  output=$("${@:2}" "unix:$folder/socket") || { cat "$folder/log" >&2; die "the $1 client failed"; }
  printf '%s\n' "$output" | sed "s/^/  $1: /"
  # Python writes JSON with spaces, Rust without.
  [ "$(grep '^value: ' <<<"$output" | sed 's/^value: //; s/ //g; s/^/value: /')" = "$expected" ] || die "the $1 client printed another value than $expected"
}
check Rust target/debug/loaderd-example-client
check Python "$work/python/bin/python" examples/python/client.py
kill -TERM "$executor"
wait "$executor" || die "the executor did not stop cleanly: exit code $?"
say "2 passed, 0 failed"
