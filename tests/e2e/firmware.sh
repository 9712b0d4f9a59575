#!/bin/bash
# SPDX-License-Identifier: MIT
# examples/firmware on bare x86-64 and AArch64, built by gcc and by clang: boots, switches its sites, and prints the
# same everywhere; its stream becomes a recording with the same events.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need qemu-system-x86 qemu-system-arm gcc-aarch64-linux-gnu make
cat >expected <<'TEXT'
4 points
all off:
  lost: 0, times grow
on: 4
  trigger: the sum of job 3 is 9455
  main       fw:work begins  job=2, name="copper"
  main       fw:result  sum=2870, mean=143.500, odd=false
  main       fw:work ends
  interrupt  fw:tick  ticks=12
  interrupt  fw:tick  ticks=13
  interrupt  fw:tick  ticks=14
  main       fw:work begins  job=3, name="a name that is far too long to be kept whole in one slot"...
  main       fw:result  sum=9455, mean=315.167, odd=true
  main       fw:work ends
  lost: 0, times grow
off: 3
  main       fw:work begins  job=4, name="zinc"
  main       fw:work ends
  lost: 0, times grow
more than the ring holds:
  main       fw:work begins  job=1, name=""
  main       fw:work ends
  main       fw:work begins  job=2, name=""
  main       fw:work ends
  main       fw:work begins  job=3, name=""
  main       fw:work ends
  main       fw:work begins  job=4, name=""
  main       fw:work ends
  main       fw:work begins  job=5, name=""
  main       fw:work ends
  main       fw:work begins  job=6, name=""
  main       fw:work ends
  main       fw:work begins  job=7, name=""
  main       fw:work ends
  main       fw:work begins  job=8, name=""
  main       fw:work ends
  lost: 4, times grow
off: 4
  lost: 0, times grow
TEXT

# boot ARCH NAME [CC=...]
boot() {
  local name=$2
  run "$PENNA_SOURCE/examples/firmware/run" "$1" "${@:3}"
  expect_eq 0 "$status" "status of run $*"
  expect_eq "penna on bare $name" "${out%%$'\n'*}" "first line of $*"
  expect_eq "$(<expected)" "${out#*$'\n'}" "what $* prints"
  run penna import -f firmware.stream
  expect_contains "$err" 'firmware.penna: 27 points, written by 2 threads'
  expect_contains "$err" '4 points; a larger ring loses less'
  penna export csv firmware.penna | sed -E 's/^[0-9]+,//; s/,[0-9]*,,([^,]*)$/,\1/' >"events.$1"
}
boot x86_64 x86-64
boot x86_64 x86-64 CC=clang
mv events.x86_64 events
boot aarch64 AArch64
cmp events events.aarch64 || fail "the recordings differ"
boot aarch64 AArch64 'CC=clang --target=aarch64-linux-gnu'

# Following docs/embedding.md, and as in the image itself: the span of a job contains its point, interrupts are a thread
# of their own.
copy_of_pages
cd copy
run bash -ec "$(doc_block embedding.md examples/firmware/run)"
expect_eq 0 "$status" "status of the example in docs/embedding.md"
expect_match "$out" '1  span fw:work job=2 name="copper" \{'
expect_match "$out" '1    point fw:result sum=2870 mean=143.5 odd=false'
run penna report firmware.penna points
expect_match "$out" '^ +3 +[0-9,]+ +fw:tick +tick.c:'
run penna report firmware.penna threads
expect_match "$out" ' 2  interrupt .* 3 '
