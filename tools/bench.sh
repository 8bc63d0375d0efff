#!/usr/bin/env bash
# bench.sh [--quick]: builds the benchmark, installs what it is measured against, and runs it.
. "$(dirname "$0")/lib.sh"
cd "$root"
tools/setup.sh

packages=$work/bench
if ! cmp -s benches/node/package.json "$packages/.installed"; then
  rm -rf "$packages"
  mkdir -p "$packages"
  cp benches/node/package.json "$packages/"
  if ! command -v npm >/dev/null; then
    say "npm is missing, so only loaderd is measured (install Node.js 20 with npm to compare)"
  elif say "installing workerd, isolated-vm (compiled here, about two minutes) and quickjs-emscripten …" &&
    npm install --prefix "$packages" --ignore-scripts --no-audit --no-fund --loglevel=error </dev/null >/dev/null; then
    npm rebuild --prefix "$packages" --loglevel=error isolated-vm </dev/null >/dev/null 2>&1 ||
      say "isolated-vm could not be compiled here, so it is not measured"
    cp "$packages/package.json" "$packages/.installed"
  else
    say "the npm registry is out of reach, so only loaderd is measured"
  fi
fi

cargo build --locked --release -p loaderd -p loaderd-bench
arguments=("$@" --loaderd target/release/loaderd)
[ ! -f "$packages/.installed" ] || arguments+=(--packages "$packages")
exec target/release/loaderd-bench "${arguments[@]}"
