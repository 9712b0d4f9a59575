#!/bin/bash
# SPDX-License-Identifier: MIT
# What ./run does where something is missing or too old, in a tree of its own with commands of its own: nothing is built.
set -euo pipefail
source=$(readlink -f "$(dirname "$(readlink -f "$0")")/../..")
tree=$(mktemp -d "${TMPDIR:-/tmp}/penna-verbs.XXXXXX")
trap 'rm -rf "$tree"' EXIT
cd "$tree"
fail() { echo "FAIL: $*" >&2; cat out >&2; exit 1; }
says() { grep -qF -- "$1" out || fail "missing sentence: $1"; }
command_is() { cat >"commands/$1" && chmod +x "commands/$1"; }
verb() { status=0; PATH=$tree/commands:$PATH ./run "$@" >out 2>&1 || status=$?; }

mkdir commands tools src
cp "$source/run" "$source/.clang-format" .
for tool in install-packages check-layers check-links check-sizes check-symbols check-web; do
  printf '#!/bin/sh\n' >"tools/$tool"
  chmod +x "tools/$tool"
done
printf '#!/bin/sh\nexit 1\n' | command_is git # as where there is no repository
# Keeps what it is asked for; tests can be configured unless there is a file packages-are-missing.
command_is cmake <<'CMAKE'
#!/bin/sh
[ "$1" != --version ] || { echo "cmake version $(cat version)"; exit; }
echo "$*" >>asked
case $* in
  *release*PENNA_TESTS=*)
    case $* in *=ON) [ ! -e packages-are-missing ] || { echo "no GTest"; exit 1; } ;; esac
    mkdir -p build/release && echo "PENNA_TESTS:BOOL=${*##*=}" >build/release/CMakeCache.txt ;;
esac
exit 0
CMAKE

# A CMake that is too old: one sentence. What follows its number is not looked at.
for version in 3.18.4 3.24.99 3.5 2.8.12.2 3.18.20210101-g1; do
  echo "$version" >version
  verb build
  [ $status = 1 ] || fail "CMake $version: exit status $status"
  [ "$(wc -l <out)" = 1 ] || fail "CMake $version: more than a sentence"
  says "building needs CMake 3.25 or later, and $tree/commands/cmake is ${version%%-*}"
done
for version in 3.25 3.25.1 3.31.6 4.0.2; do
  echo "$version" >version
  verb build
  [ $status = 0 ] || fail "CMake $version: exit status $status"
  says 'build/release/bin/penna is ready'
done

# What users build is configured without tests; a build that has them keeps them, as long as they can be configured.
# expect_configured WANT VERB...
expect_configured() {
  : >asked
  verb "${@:2}"
  [ $status = 0 ] || fail "${*:2}: exit status $status"
  [ "$(grep -o 'PENNA_TESTS=.*' asked | paste -sd ' ')" = "$1" ] || fail "${*:2} configures: $(cat asked)"
}
mkdir -p tests/torture
printf '#!/bin/sh\n' >tests/torture/all.py
chmod +x tests/torture/all.py
rm -r build
expect_configured PENNA_TESTS=OFF build
expect_configured PENNA_TESTS=ON torture
expect_configured PENNA_TESTS=ON build
touch packages-are-missing
expect_configured 'PENNA_TESTS=ON PENNA_TESTS=OFF' build
expect_configured PENNA_TESTS=OFF build
rm packages-are-missing

# `test quick` builds what its tests need, not every test; `test NAME...` builds what NAME needs, and nothing when there is no NAME.
cp "$source/tools/targets-of-tests" tools/
printf '#!/bin/sh\necho "ctest $*" | tee -a asked\n' | command_is ctest
tests=$tree/build/release/obj/tests
mkdir -p "$tests/unit/model" "$tests/e2e"
cat >"$tests/CTestTestfile.cmake" <<<'add_test([=[layers]=] "/somewhere/tools/check-layers")'
cat >"$tests/unit/model/CTestTestfile.cmake" <<<"add_test([=[unit.model_test]=] \"$tree/build/release/test/model_test\")"
cat >"$tests/e2e/CTestTestfile.cmake" <<<'add_test([=[e2e.locks]=] "/somewhere/tests/e2e/locks.sh")
add_test([=[e2e.lock_names]=] "/somewhere/tests/e2e/lock_names.sh")'
# expect_built WANT TESTED ARGUMENT...: the targets, and what ctest gets behind the options that it always gets.
expect_built() {
  : >asked
  verb test "${@:3}"
  [ $status = 0 ] || fail "test ${*:3}: exit status $status"
  [ "$(sed -n 's/.* --target //p' asked)" = "$1" ] || fail "test ${*:3} builds: $(cat asked)"
  [ "$(sed -n 's/^ctest .* --output-on-failure //p' asked)" = "$2" ] || fail "test ${*:3} runs: $(cat asked)"
}
products=$(sed -n '/^readonly products=(/,/)/p' run | tr -d '\n' | sed 's/.*(//; s/)//; s/  */ /g')
expect_built test/model_test '-R (^|\.)(model_test)$' model_test
expect_built "obj/tests/e2e/all $products" '-R (^|\.)(e2e.lock.*)$' 'e2e.lock.*'
expect_built "obj/tests/e2e/all test/model_test $products" '-R (^|\.)(locks|unit.model_test)$' locks unit.model_test
expect_built "bin/penna" '-R (^|\.)(layers)$' layers
expect_built "$products obj/tests/unit/all obj/tests/abi/all obj/tests/golden/all" '-L unit|tree|abi|golden|quick' quick
for name in lock nosuch model; do
  : >asked
  verb test unit.model_test $name
  [ $status = 1 ] || fail "an unknown test: exit status $status"
  says "no test in build/release matches $name"
  ! grep -qE -- '--build|ctest' asked || fail "an unknown test was run: $(cat asked)"
done

# Without git, every file is looked at, and what is wrong is found.
echo 'int  wrong ;' >src/one.cc
verb check
if command -v clang-format-14 >/dev/null; then
  [ $status = 1 ] || fail "check of a malformed file: exit status $status"
  says 'check format: failed'
  says 'src/one.cc:1'
else
  says 'the format is that of clang-format-14, which this system does not have: not checked'
fi
echo 'int right;' >src/one.cc
mkdir -p build/clang
echo "\"$tree/src/one.cc\"" >build/clang/compile_commands.json
printf '#!/bin/sh\necho "tidy $*" >>asked\n' | command_is clang-tidy-14
: >asked
verb check
[ $status = 0 ] || fail "check of a valid file: exit status $status"
says 'git does not know what changed here: every file is checked'
grep -q '^tidy .*src/one.cc' asked || fail "clang-tidy did not get the file: $(cat asked)"
rm src/one.cc
verb check
[ $status = 1 ] || fail "check of a missing file: exit status $status"
says 'there are no source files'
echo PASS
