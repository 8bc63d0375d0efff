#!/usr/bin/env bash
# setup.sh [python]: what a build needs (compiler, schema compiler, V8's library); with `python`, what a virtual
# environment needs too. Says nothing and takes no time when all of it is there.
. "$(dirname "$0")/lib.sh"

command -v cargo >/dev/null ||
  die "Rust is missing: install the stable toolchain with rustup (cargo, rustfmt, clippy; $(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$root/Cargo.toml") or newer), then run make again"

missing=()
command -v cc >/dev/null || missing+=(gcc libc6-dev)
command -v c++ >/dev/null || missing+=(g++)
command -v capnp >/dev/null || missing+=(capnproto)
if [ "${1:-}" = python ]; then
  python3 -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3 python3-venv)
fi
[ ${#missing[@]} -eq 0 ] || install_packages "${missing[@]}"

"$root/tools/v8.sh"
