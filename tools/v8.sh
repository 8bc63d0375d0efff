#!/usr/bin/env bash
# v8.sh: puts V8's static library where the `v8` crate's build script looks before it downloads, so that plain
# `cargo build` works. First found wins: RUSTY_V8_ARCHIVE, ../shared/v8/, the crate's own release, our own build.
. "$(dirname "$0")/lib.sh"

version=$(locked_version v8)
[ -n "$version" ] || die "Cargo.lock pins no version of the crate v8"
target=$(rustc -vV | sed -n 's/^host: //p')
name=librusty_v8_simdutf_release_$target.a.gz # the crate's name for: feature simdutf, release build, this machine

# A URL is for the crate itself to deal with: it reads the same variable.
case ${RUSTY_V8_ARCHIVE:-} in
  '') ;;
  http:* | https:*) exit 0 ;;
  *) [ -f "$RUSTY_V8_ARCHIVE" ] || die "RUSTY_V8_ARCHIVE names a file that is not there: $RUSTY_V8_ARCHIVE" ;;
esac

crate_source() { find "$cargo_home/registry/src" -maxdepth 2 -name "v8-$version" -type d 2>/dev/null | head -n 1; }
source=$(crate_source)
if [ -z "$source" ]; then
  say "fetching the crates …"
  (cd "$root" && cargo fetch --locked --quiet) || die "cargo fetch failed: is the crates registry within reach?"
  source=$(crate_source)
fi
[ -n "$source" ] || die "the source of crate v8 $version is not in $cargo_home/registry"

# Where its releases are is the crate's business: ask its build script.
base=${RUSTY_V8_MIRROR:-$(sed -n 's/.*default_base = "\([^"]*\)".*/\1/p' "$source/build.rs" | head -n 1)}
[ -n "$base" ] || die "the build script of crate v8 $version no longer says where its releases are: tools/v8.sh needs a look"
url=$base/v$version/$name
kept=$cargo_home/.rusty_v8/${url//[^A-Za-z0-9]/_}
[ ! -s "$kept" ] || exit 0

mkdir -p "${kept%/*}"
part=$kept.$$.part
trap 'rm -f "$part"' EXIT
keep() { # whole, or not at all: a half-written file would be taken for the library by every later build
  gzip -t "$part" 2>/dev/null || [ "$(head -c 7 "$part")" = '!<arch>' ] || die "not a static library: what came from $1"
  mv "$part" "$kept"
  say "V8 $version: from $1"
  exit 0
}

if [ -n "${RUSTY_V8_ARCHIVE:-}" ]; then
  cp "$RUSTY_V8_ARCHIVE" "$part"
  keep "$RUSTY_V8_ARCHIVE"
fi

shared=$root/../shared/v8
if [ -f "$shared/$name" ]; then
  (cd "$shared" && grep -F "$name" SHA256SUMS | sha256sum --check --quiet --strict -) ||
    die "$shared/$name does not match its SHA256SUMS"
  cp "$shared/$name" "$part"
  keep "$shared"
fi

# The crate would retry for a minute without a network; one short try tells.
if command -v curl >/dev/null &&
  curl --silent --fail --location --head --connect-timeout 5 --max-time 10 --output /dev/null "$url"; then
  say "downloading V8 $version (about 30 MB) …"
  if curl --fail --location --connect-timeout 10 --speed-limit 1000 --speed-time 60 --progress-bar --output "$part" "$url"; then
    keep "the crate's release"
  fi
fi

say "V8 $version: no archive is within reach, so it is built here, once"
"$root/tools/build-v8.sh" "$part"
keep "our own build"
