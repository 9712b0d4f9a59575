#!/bin/bash
# SPDX-License-Identifier: MIT
# An invalid regular expression is reported in one sentence, with the position, before anything is run or written: in
# every option that takes one.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cat >work.c <<'PROGRAM'
__attribute__((noipa)) void work(void) {}
int main(void) { work(); }
PROGRAM
build_c work -finstrument-functions
penna record -q -o work.penna ./work

# refused WANTED COMMAND...: fails with one line that names the position, and leaves no file.
refused() {
  local wanted=$1 usage=125
  shift
  [ "$1" != check ] || usage=2  # 1 is a limit that is exceeded
  run penna "$@"
  expect_eq "$usage" "$status" "status of '$*'"
  expect_eq "" "$out" "output of '$*'"
  expect_eq "1" "$(wc -l <<<"$err")" "lines of '$*': $err"
  expect_contains "$err" "is not a regular expression: at character $wanted"
  [ ! -e new.penna ] && [ ! -e ran ] || fail "'$*' has run or written something"
}
fault='5, this ( has no )'
for option in -F -N --hide --caller --paths-to --module --source --thread; do
  refused "$fault" record -o new.penna "$option" '/pay(/' -- touch ran
  for verb in 'report calls' replay 'graph work' 'export folded' 'diff work.penna'; do
    # shellcheck disable=SC2086
    refused "$fault" $verb work.penna "$option" '/pay(/'
  done
done
for trigger in on off filter notrace finish depth=2 time=1ms; do
  refused "$fault" record -o new.penna -T "/pay(/@$trigger" -- touch ran
  refused "$fault" report calls work.penna -T "/pay(/@$trigger"
done
for action in stack snapshot; do refused "$fault" record -o new.penna -T "/pay(/@$action" -- touch ran; done
for option in -A -R; do
  refused "$fault" record -o new.penna "$option" '/pay(/@arg1' -- touch ran
  refused "$fault" record -o new.penna "$option" '/pay(/' -- touch ran
done
refused "$fault" record -o new.penna -e '/pay(/' -- touch ran
refused "$fault" record -o new.penna -e '!/pay(/' -- touch ran
refused "$fault" record -o new.penna --where 'name ~ "/pay(/"' -- touch ran
refused '2, there is nothing for this + to repeat' record -o new.penna --lock-functions '/+a/=b' -- touch ran
refused "$fault" report points work.penna --where 'a > 1 && name ~ "/pay(/"'
refused "$fault" report alloc work.penna --stack '/pay(/'
refused "$fault" report leaks work.penna --stack '/pay(/'
refused "$fault" report locks work.penna --lock '/pay(/'
refused "$fault" check work.penna --max-allocs '/pay(/=0'
refused "$fault" check work.penna --no-lock-in '/pay(/'
refused "$fault" check work.penna --max-leak 0 --stack '/pay(/'
refused "$fault" graph '/pay(/' work.penna
refused "$fault" ctl 1 on '/pay(/'

# Each error has its position.
refused '4, this [ has no ]' report calls work.penna -F '/ab[c/'
refused '3, this ) has no ( before it' report calls work.penna -F '/a)/'
refused '4, there is nothing for this * to repeat' report calls work.penna -F '/a|*/'
refused '3, \ stands before nothing' report calls work.penna -F '/a\/'
