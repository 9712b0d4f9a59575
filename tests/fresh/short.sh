#!/bin/bash
# SPDX-License-Identifier: MIT
# The short form of ./run fresh, on what lies here instead of what is committed, in a minimal system of this machine's suite:
#   tests/fresh/short.sh build             with the packages of [build] alone, ./run build's configuring and the agent's build work, and penna
#                                          records there: penna itself comes from here, for compiling it takes minutes
#   tests/fresh/short.sh configure GROUP   with those of [build] and [GROUP], test or bench, what is built with them is configured
set -euo pipefail
root=$(readlink -f "$(dirname "$(readlink -f "$0")")/../..")
[ "$(id -u)" = 0 ] || exec sudo --preserve-env=PENNA_FRESH_STORE,PENNA_FRESH_MIRROR,PENNA "$0" "$@"
. "$root/tests/fresh/root.sh"
part=$1 group=${2:-}
"$root/tools/install-packages" fresh
suite=$(this_suite)
tidy
lower=$(with_packages "$suite" build $group)
layer=$(scratch short)
trap 'rm -rf --one-file-system "$layer"' EXIT
chmod 755 "$layer"
mkdir -p "$layer/upper$root"
case $root in /tmp/*) chmod 1777 "$layer/upper/tmp" ;; esac # a clone may lie there: anybody writes beside it all the same
tar -C "$root" --exclude=./build --exclude=./.git --exclude=node_modules -c . | tar -C "$layer/upper$root" -x
# there COMMAND: in the tree, in that system, without a network; with what this machine's compiler cache has, which
# saves compiling, but not finding each header.
cache=$(ccache --get-config cache_dir 2>/dev/null || echo "$store/ccache-$suite")
mkdir -p "$cache"
there() {
  PENNA_FRESH_BIND="$cache:/var/cache/ccache" "$root/tests/fresh/enter" "$layer" "$lower" \
    env CCACHE_DIR=/var/cache/ccache bash -euc "cd '$root'; $1"
}

case $part/$group in
  build/)
    cp "${PENNA:-$root/build/release/bin/penna}" "$layer/upper/penna"
    there 'cmake --preset release -DPENNA_TESTS=OFF
      cmake --build build/release --target lib/libpenna-agent.so lib/libpenna-functracer.so
      mkdir -p build/release/bin
      mv /penna build/release/bin/
      penna=$PWD/build/release/bin/penna
      if ldd $penna | grep "not found"; then exit 1; fi
      cd /tmp
      $penna record -o root.penna true
      $penna report root.penna alloc >/dev/null
      setpriv --reuid=65534 --regid=65534 --clear-groups $penna record -o other.penna ls / >/dev/null
      $penna info other.penna | grep "lost *nothing"' ;;
  configure/test)
    there 'cmake --preset release -DPENNA_TESTS=ON; for preset in fuzz tsan clang; do cmake --preset $preset; done' ;;
  configure/bench)
    there 'cmake --preset release -DPENNA_TESTS=OFF; cmake --build build/release --target help | grep -E "agent_bench|unwind_bench|points_lttng|points_sdt"' ;;
  *) die "usage: tests/fresh/short.sh build | configure test|bench" ;;
esac
