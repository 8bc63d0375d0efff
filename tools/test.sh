#!/usr/bin/env bash
# test.sh: format check, lints, tests. Every section runs even when an earlier one failed, so that one run tells all.
. "$(dirname "$0")/lib.sh"
cd "$root"

section "Set-up"
tools/setup.sh
rustc --version
cargo fmt --version >/dev/null 2>&1 || die "rustfmt is missing: rustup component add rustfmt"
cargo clippy --version >/dev/null 2>&1 || die "clippy is missing: rustup component add clippy"

failed=()
run() { # NAME COMMAND...
  section "$1"
  local started=$SECONDS
  if "${@:2}"; then
    say "${green}ok${plain} $1 ($((SECONDS - started)) s)"
  else
    say "${red}FAILED${plain} $1 ($((SECONDS - started)) s)"
    failed+=("$1")
  fi
}

tests() {
  local profile=default
  [ -z "${CI:-}" ] || profile=ci
  if cargo nextest --version >/dev/null 2>&1; then
    cargo nextest run --workspace --locked --profile "$profile"
  else
    cargo test --workspace --locked --no-fail-fast
  fi
}

# Where npm cannot install, all other tests still say what they have to say; those of the packages are counted as ignored.
packages() { (tools/packages.sh) || say "the packages of tests/packages could not be installed: their tests are ignored"; }

# What is built once needs no half-built copies kept beside it: they are half of the disk that a build takes.
[ -z "${CI:-}" ] || export CARGO_INCREMENTAL=0

run "Format" cargo fmt --all --check
run "Lints" cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
run "Clients" tools/clients.sh
run "Packages" packages
run "Tests" tests

section "Result"
if [ ${#failed[@]} -gt 0 ]; then
  say "${red}failed:${plain} ${failed[*]}"
  exit 1
fi
say "${green}all of it passed${plain} ($SECONDS s)"
