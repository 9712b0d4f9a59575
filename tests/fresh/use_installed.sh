#!/bin/bash
# SPDX-License-Identifier: MIT
# Uses an installed Penna as its users do, with nothing of the source tree but what was installed:
#   use_installed.sh PREFIX            records programs of the system
#   use_installed.sh PREFIX develop    builds programs by pkg-config and find_package, and records their points
# PENNA_VERSION_WANTED is its version. PREFIX may be /usr, which compilers, CMake and pkg-config search by themselves. Works in a
# directory of its own.
set -euo pipefail
export LC_ALL=C.UTF-8
unset LD_LIBRARY_PATH LD_PRELOAD
prefix=$1 part=${2:-use}
docs=$prefix/share/doc/penna
work=$(mktemp -d "${TMPDIR:-/tmp}/penna-installed.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "FAIL: $*" >&2; exit 1; }
penna() { "$prefix/bin/penna" "$@"; }

# records WANT REC COMMAND...: what it prints is what it prints unrecorded; then penna info of the recording says WANT.
records() {
  local want=$1 rec=$2 expected
  shift 2
  expected=$("$@")
  [ "$(penna record -q -o "$rec" -- "$@")" = "$expected" ] || fail "$* prints something else when it is recorded"
  penna info "$rec" >info
  grep -Eq "$want" info && grep -Eq '^lost +nothing$' info || { cat info; fail "penna info $rec lacks '$want', or something is lost"; }
}

use() {
  local python link
  [ "$(penna --version | head -n 1)" = "penna ${PENNA_VERSION_WANTED:?}" ] || fail "penna --version: $(penna --version)"
  records '^events +.*alloc' ls.penna ls /
  penna report ls.penna alloc | grep -q allocations || fail "no report of ls"
  if python=$(command -v python3); then records '^events +.*alloc' python.penna "$python" -c 'print(len([bytes(i) for i in range(5000)]))'; fi
  # By a link from elsewhere, and by its name alone.
  ln -s "$(readlink -f "$prefix/bin/penna")" here
  ./here record -q -o link.penna -- true
  PATH=$prefix/bin:$PATH bash -c 'penna record -q -o path.penna -- true'
  for link in link path; do penna info $link.penna | grep -Eq '^lost +nothing$' || fail "$link.penna: events lost"; done
  # The environment names no other agent.
  PENNA_AGENT=/nonexistent LD_LIBRARY_PATH=/nonexistent penna record -q -o env.penna -- true
  for tool in etrace functracer mutex_trace mutex_ft2csv; do
    "$prefix/bin/$tool" --help >/dev/null 2>&1 || fail "$tool --help ends with $?"
  done
  "$prefix/bin/functracer" -o . -s true || fail "functracer ends with $?"
  [ -s "$docs/README.md" ] || fail "no README in $docs"
}

# The points of the examples: two programs, C and C++, which print the same.
points_of() {
  records '^events +.*points' "$1.penna" "./$1"
  penna report "$1.penna" points >points
  grep -q 'demo:\|cache:' points || { cat points; fail "$1 has no points"; }
}

# The block of docs/install.md that holds WORD.
block() {
  awk -v word="$1" '/^```/ {if (inside && index(text, word)) {printf "%s", text; exit} inside = !inside; text = ""; next}
                    inside {text = text $0 "\n"}' "$docs/docs/install.md" | grep . || fail "docs/install.md has no block with $1"
}

by_pkg_config() {
  [ "$prefix" = /usr ] || export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
  [ "$(pkg-config --modversion penna)" = "$PENNA_VERSION_WANTED" ] || fail "pkg-config --modversion penna"
  bash -euc "$(block 'pkg-config --cflags penna')"
  # The headers with the names of others, of C and C++.
  # shellcheck disable=SC2046
  c++ -O2 -g compat.cc $(pkg-config --cflags penna) -I"$(pkg-config --variable=compatdir penna)" -o compat
  printf '#include "ft_userspace.h"\n#include "gcc-helper.h"\nint main(void) { return 0; }\n' >feather.c
  # shellcheck disable=SC2046
  cc feather.c -I"$(pkg-config --variable=compatdir penna)/feather-trace" $(pkg-config --cflags penna) -o feather -pthread
}

by_find_package() {
  cat >CMakeLists.txt <<CMAKE
cmake_minimum_required(VERSION 3.16)
project(user C CXX)
add_executable(points examples/points.c)
add_executable(points_cc examples/points.cc)
add_executable(recorder examples/recorder.cc)
$(block find_package)
target_link_libraries(points_cc Penna::point)
CMAKE
  local here=(-DCMAKE_PREFIX_PATH="$prefix")
  [ "$prefix" != /usr ] || here=()
  { cmake -S . -B built "${here[@]}" && cmake --build built; } >log 2>&1 || { cat log; fail "find_package(Penna) failed"; }
  mv built/points built/points_cc built/recorder .
  sed -i 's/Penna 0.1/Penna 99/' CMakeLists.txt
  if cmake -S . -B newer "${here[@]}" >log 2>&1; then fail "find_package(Penna 99) accepts this version"; fi
}

records_itself() {
  rm -f recorder.penna
  ./recorder >/dev/null || fail "a program that records itself ends with $?"
  penna report recorder.penna points | grep -q demo:bytes || fail "a program that records itself has no points"
}

develop() {
  local way
  mkdir examples
  cp "$docs"/examples/{points.c,points.cc,recorder.cc} examples
  printf '#include <usdt.h>\n#include <folly/tracing/StaticTracepoint.h>\nint main() { FOLLY_SDT(a, b); }\n' >compat.cc
  for way in by_pkg_config by_find_package; do
    $way
    points_of points
    [ $way = by_pkg_config ] || points_of points_cc
    records_itself
    rm -f points recorder ./*.penna
  done
}

$part
echo "PASS: $part"
