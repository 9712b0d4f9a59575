#!/bin/bash
# SPDX-License-Identifier: MIT
# Installs and uses packages on a system that has nothing, and builds programs with them on one that has the packages of [build] alone:
#   tests/fresh/packages.sh [SUITE]     those in build/release/package, on SUITE (default: this machine's); a .deb only on its own suite,
#                                       and docs/screens.md on another one
# PENNA_BUILD: another build. PENNA_PACKAGES_OF: the suite that it was built on. PENNA_PACKAGE=1: the packages are made first.
set -euo pipefail
root=$(readlink -f "$(dirname "$(readlink -f "$0")")/../..")
[ "$(id -u)" = 0 ] || exec sudo --preserve-env=PENNA_FRESH_STORE,PENNA_FRESH_MIRROR,PENNA_BUILD,PENNA_PACKAGE,PENNA_PACKAGES_OF "$0" "$@"
. "$root/tests/fresh/root.sh"
built_on=${PENNA_PACKAGES_OF:-$(this_suite)} suite=${1:-$(this_suite)}
build=${PENNA_BUILD:-$root/build/release}
"$root/tools/install-packages" fresh package
[ -z "${PENNA_PACKAGE:-}" ] || for part in deb bundle; do "$root/tools/package" "$build" $part; done
tidy
layer=
trap '[ -z "$layer" ] || rm -rf --one-file-system "$layer"' EXIT

# The block of docs/install.md that holds WORD.
block() {
  awk -v word="$1" '/^```/ {if (inside && index(text, word)) {printf "%s", text; exit} inside = !inside; text = ""; next}
                    inside {text = text $0 "\n"}' "$root/docs/install.md" | grep . || die "docs/install.md has no block with $1"
}

# unpack HOME: the bundle, as the docs have it.
unpack() {
  (cd "$build/package" && HOME=$1 bash -euc "$(block x86_64.tar.zst)")
  [ "$("$1/.local/bin/penna" --version)" = "penna $version" ] || die "~/.local/bin/penna does not run"
}

# on LOWER BUNDLE COMMAND: in that system, with the packages in /packages, the bundle in /opt where BUNDLE says so, ours in /mnt, and what is
# not compiled in /source.
on() {
  layer=$(scratch run)
  chmod 755 "$layer"
  mkdir -p "$layer/upper/packages" "$layer/upper/opt" "$layer/upper/source"
  find "$build/package" -maxdepth 1 -name '*.deb' -exec cp -t "$layer/upper/packages" {} +
  cp -r "$root"/{README.md,docs,examples,tests,tools} "$layer/upper/source"
  [ "$2" = no ] || unpack "$layer/upper/opt"
  PENNA_FRESH_BIND="$(archives "$suite" "$layer") $root/tests/fresh:/mnt" "$root/tests/fresh/enter" "$layer" "$1" \
    env DEBIAN_FRONTEND=noninteractive CMAKE_GENERATOR=Ninja PENNA_VERSION_WANTED="$version" bash -euc "$3"
  keep_archives "$suite" "$layer"
  rm -rf --one-file-system "$layer"
  layer=
}

version=$(sed -nE 's/^#define PENNA_VERSION_(MAJOR|MINOR|PATCH) //p' "$root/include/penna/version.h" | paste -sd .)
bare=$(base "$suite")
developer=$(with_packages "$suite" build)
if [ -n "$(find "$build/package" -name '*.tar.zst')" ]; then
  on "$bare" bundle '/mnt/use_installed.sh /opt/penna-*'
  on "$developer" bundle '/mnt/use_installed.sh /opt/penna-* develop'
fi
if [ "$suite" != "$built_on" ]; then
  # Where packages are built, e2e.screens does it.
  on "$bare" bundle 'apt-get -qq update; apt-get -qq install -y --no-install-recommends g++ python3 >/dev/null
    PENNA=$(echo /opt/penna-*/bin/penna) PENNA_SOURCE=/source /source/tests/e2e/screens.sh'
  echo "PASS: the bundle on $suite"
  exit
fi
on "$bare" no 'cd /packages; apt-get -qq update; apt-get -qq install -y --no-install-recommends ./penna_*.deb >/dev/null
  /mnt/use_installed.sh /usr; setpriv --reuid=65534 --regid=65534 --clear-groups penna record -q -o /tmp/nobody.penna -- ls / >/dev/null'
on "$developer" no "cd /packages; echo 'APT::Get::Assume-Yes true; APT::Install-Recommends false;' >/etc/apt/apt.conf.d/90test
  { apt-get update; $(block ./libpenna-dev_); } >log 2>&1 || { cat log; exit 1; }
  /mnt/use_installed.sh /usr develop"
echo "PASS: packages on $suite"
