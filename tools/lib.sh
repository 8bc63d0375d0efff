# What every script in tools/ shares; sourced, never run.
# shellcheck shell=bash disable=SC2034
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cargo_home=${CARGO_HOME:-$HOME/.cargo}
# Files that make targets keep between calls (virtual environments, npm packages, logs); ignored by git.
work=$root/.work

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
  bold=$'\e[1m' red=$'\e[31m' green=$'\e[32m' plain=$'\e[0m'
else
  bold='' red='' green='' plain=''
fi

say() { printf '%s\n' "$*"; }
section() { printf '\n%s== %s ==%s\n' "$bold" "$*" "$plain"; }
# Ends the script with one line that says what is wrong and what to do about it.
die() {
  printf '%serror:%s %s\n' "$red" "$plain" "$*" >&2
  exit 1
}

# install_packages NAME...: Debian packages, by apt-get where we may; otherwise says what to install and stops.
install_packages() {
  if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    die "please install these packages (Debian's names), then run make again: $*"
  fi
  say "installing $* …"
  local log
  log=$(mktemp)
  export DEBIAN_FRONTEND=noninteractive
  # The package lists of a fresh machine are empty or old, so they are read again, but only when something is missing.
  if ! { apt-get update -q && apt-get install -qy --no-install-recommends "$@"; } >"$log" 2>&1 </dev/null; then
    tail -n 20 "$log" >&2
    die "apt-get could not install: $*"
  fi
  rm -f "$log"
}

# locked_version CRATE: the version that Cargo.lock pins.
locked_version() {
  awk -v crate="$1" '$1 == "name" { found = ($3 == "\"" crate "\"") }
    found && $1 == "version" { gsub(/"/, "", $3); print $3; exit }' "$root/Cargo.lock"
}
