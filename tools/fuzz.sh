#!/usr/bin/env bash
# fuzz.sh [SECONDS [TARGET...]]: builds the fuzz targets and runs each (or those named) for so long, 60 seconds where
# nothing is said. What they find is in fuzz/artifacts, what they learn in fuzz/corpus; both are ignored by git.
. "$(dirname "$0")/lib.sh"
cd "$root"
tools/setup.sh

seconds=${1:-60}
shift || true
targets=("$@")
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(cd fuzz/fuzz_targets && ls -- *.rs | sed 's/\.rs$//')

if ! cargo +nightly --version >/dev/null 2>&1; then
  command -v rustup >/dev/null || die "the fuzzer needs a nightly compiler, which rustup installs: install Rust with rustup"
  say "installing a nightly compiler …"
  rustup --quiet toolchain install nightly --profile minimal --no-self-update ||
    die "rustup could not install a nightly compiler"
fi
if ! command -v cargo-fuzz >/dev/null; then
  say "installing cargo-fuzz (compiled here, about a minute) …"
  cargo install --quiet --locked cargo-fuzz || die "cargo could not install cargo-fuzz"
fi

# Without a sanitizer: ours is safe Rust, and V8's library was built without one. Versions are those of the project.
[ -f fuzz/Cargo.lock ] || cp Cargo.lock fuzz/Cargo.lock
fuzz=(cargo +nightly fuzz)
options=(-s none --target-dir "$root/target/fuzz")
"${fuzz[@]}" build "${options[@]}"
for target in "${targets[@]}"; do
  section "$target"
  mkdir -p "fuzz/corpus/$target"
  "${fuzz[@]}" run "${options[@]}" "$target" "fuzz/corpus/$target" "fuzz/seeds/$target" -- \
    -max_total_time="$seconds" -timeout=25 -rss_limit_mb=2048
done
say "${green}nothing was found${plain} in ${#targets[@]} targets, $seconds seconds each"
