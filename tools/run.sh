#!/usr/bin/env bash
# run.sh [PROGRAM.js [loaderd exec's options]]: builds loaderd and runs a program in it; without arguments, an example.
. "$(dirname "$0")/lib.sh"
cd "$root"
tools/setup.sh
[ -x target/debug/loaderd ] || say "building loaderd, once (a few minutes) …"
cargo build --locked --quiet --bin loaderd

if [ $# -gt 0 ]; then
  exec target/debug/loaderd exec "$@"
fi

program=examples/programs/overdue-invoices.js
tools=examples/tools/billing.js
section "The program: $program"
cat "$program"
section "Its tools: $tools"
sed -n '/^export/,$p' "$tools"
section "loaderd exec $program --tools $tools"
target/debug/loaderd exec "$program" --tools "$tools"
