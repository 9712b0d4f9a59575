#!/bin/bash
# SPDX-License-Identifier: MIT
# cmake --install: the installed files, that none refers to the build tree, and that the tree works after being moved.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
build=$(readlink -f "$(dirname "$PENNA")/..")
version=$(penna --version | head -n 1)
version=${version#penna }
cmake --install "$build" --prefix "$work/first" >log 2>&1 || fail "$(cat log)"
mv first moved
prefix=$work/moved
lib=$(dirname "$(find "$prefix" -name libpenna-agent.so)")

# ---- Installed files ------------------------------------------------------------------------------------------------
for file in bin/{penna,etrace,functracer,mutex_trace,mutex_ft2csv} include/penna/{point,recorder,version}.h \
    include/penna-compat/{usdt.h,folly/tracing/StaticTracepoint.h,feather-trace/ft_userspace.h} \
    share/man/man1/penna{,-record,-report}.1 share/man/man3/penna-point.3 share/man/man5/penna-format.5 \
    share/bash-completion/completions/penna share/zsh/vendor-completions/_penna share/fish/vendor_completions.d/penna.fish \
    share/doc/penna/{README.md,LICENSE,docs/points.md,examples/points.c}; do
  [ -f "$prefix/$file" ] || fail "$file is not installed"
done
for file in libpenna.so "libpenna.so.$version" libpenna-agent.so libpenna-agent-standalone.so libpenna-etrace.so libpenna-functracer.so pkgconfig/penna.pc \
    cmake/Penna/Penna{Config,ConfigVersion,Targets}.cmake; do
  [ -f "$lib/$file" ] || fail "$file is not installed in $lib"
done
expect_eq "$(cd "$PENNA_SOURCE/include" && find penna -type f | sort)" "$(cd "$prefix/include" && find penna -type f | sort)" "headers"
expect_eq "" "$(find "$prefix" -name CMakeLists.txt -o -perm /022 -not -type l)" "files that do not belong here, or that others may write"

# ---- Build information ----------------------------------------------------------------------------------------------
run moved/bin/penna --version -v
expect_eq "0 penna $version" "$status ${out%%$'\n'*}" "penna --version -v"
for fact in '^compiler +(gcc|clang) [0-9]' '^libraries .*elfutils 0\.[0-9]+, zstd 1\.[0-9.]+,.* Zydis [0-9.]+' '^carriers .*inject' \
    '^recordings +written in version 3, read from 1 on'; do
  expect_match "$out" "$fact"
done
[ ! -e "$PENNA_SOURCE/.git" ] || expect_match "$out" '^commit +[0-9a-f]{12}\+?$'

# ---- No references to other places ----------------------------------------------------------------------------------
soname() { readelf -d "$1" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p'; }
expect_eq libpenna.so.0 "$(soname "$lib/libpenna.so")" "soname"
expect_eq libpenna.so.0 "$(readlink "$lib/libpenna.so")" "libpenna.so"
expect_eq "libpenna.so.$version" "$(readlink "$lib/libpenna.so.0")" "libpenna.so.0"
for library in agent etrace functracer; do
  expect_eq "libpenna-$library.so" "$(soname "$lib/libpenna-$library.so")" "soname"
done
# Those that need the agent look for it beside them; no other has a search path.
looking=$(find "$prefix" -type f | while read -r file; do
  path=$(readelf -d "$file" 2>/dev/null | sed -n 's/.*\(RPATH\|RUNPATH\).*\[\(.*\)\]/\2/p')
  [ -z "$path" ] || echo "$(basename "$file") $path"
done | sort)
expect_eq 'libpenna-etrace.so $ORIGIN
libpenna.so.'"$version"' $ORIGIN' "$looking" "run paths"
expect_eq "" "$(grep -rIlF -e "$PENNA_SOURCE" -e "$work/first" -e "$build" "$prefix")" "text files that name the source, the build or the first prefix"
for file in "$prefix"/bin/* "$lib"/*.so*; do
  ldd "$file" | grep -q 'not found' && fail "$file: $(ldd "$file")"
  ldd "$file" | grep -F "$build" && fail "$file takes a library of the build tree"
done

# ---- It works there -------------------------------------------------------------------------------------------------
export PENNA_VERSION_WANTED=$version
"$PENNA_SOURCE/tests/fresh/use_installed.sh" "$prefix" || fail "what is installed cannot be used"
"$PENNA_SOURCE/tests/fresh/use_installed.sh" "$prefix" develop || fail "a program cannot be built with what is installed"

# etrace finds its library, and the library finds etrace.
mkdir traced && cd traced
cat >calls.c <<'PROGRAM'
__attribute__((noinline)) int twice(int x) { return 2 * x; }
int main(void) { return twice(21) - 42; }
PROGRAM
build_c calls -finstrument-functions
touch TRACE
run env LD_PRELOAD="$lib/libpenna-etrace.so" ./calls
expect_eq "0 " "$status $err" "a program with libpenna-etrace.so"
run "$prefix/bin/etrace" ./calls
expect_contains "$out" twice
cd ..

# A part is missing: one sentence. A caller's environment variable does not substitute for it.
mv "$lib"/libpenna-agent.so elsewhere.so
run env PENNA_AGENT="$work/elsewhere.so" "$prefix/bin/penna" record true
expect_eq 125 "$status" "status without the agent"
expect_contains "$err" "cannot find libpenna-agent.so in $lib: install all of Penna below one prefix"
mv elsewhere.so "$lib/libpenna-agent.so"
# LD_PRELOAD cannot contain the name of such a library.
mv moved 'moved here'
run 'moved here/bin/penna' record true
expect_eq 125 "$status" "status where a path has a blank"
expect_contains "$err" "move Penna out of $work/moved here/lib"

# ---- Components, below DESTDIR --------------------------------------------------------------------------------------
for part in runtime library; do
  DESTDIR=$work/parts cmake --install "$build" --prefix /opt/penna --component $part >log 2>&1 || fail "$(cat log)"
done
parts/opt/penna/bin/penna record -q -o parts.penna -- true || fail "the parts runtime and library record nothing"
[ ! -e parts/opt/penna/include ] || fail "headers belong to the part dev"
DESTDIR=$work/dev cmake --install "$build" --prefix /opt/penna --component dev >log 2>&1 || fail "$(cat log)"
expect_eq "include lib share" "$(ls dev/opt/penna | paste -sd ' ')" "part dev"
echo PASS
