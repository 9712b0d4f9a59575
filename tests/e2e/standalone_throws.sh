#!/bin/bash
# SPDX-License-Identifier: MIT
# A static program whose operator new throws after a while: an exception that meets frames of the agent is caught, also
# when the call began while allocations were switched off, and the recording has ended since.
. "$(dirname "$0")/common.sh"

cat >refuses.cc <<'PROGRAM'
// Eight threads that ask for too much, forever. Prints a number whenever they were refused 50 times more.
#include <unistd.h>
#include <atomic>
#include <cstdio>
#include <new>
#include <thread>
static void refuse() {
  usleep(20000);
  throw std::bad_alloc();
}
static std::atomic<int> refused;
static void ask() {
  volatile size_t most = size_t{1} << 60;
  char* volatile block;
  for (;;) try {
      block = new char[most];
    } catch (const std::bad_alloc&) {
      if (const int now = ++refused; now % 50 == 0) std::printf("%d\n", now), std::fflush(stdout);
    }
}
int main() {
  std::set_new_handler(refuse);
  for (int i = 0; i < 7; ++i) std::thread(ask).detach();
  ask();
}
PROGRAM
g++ -O2 -g -static-pie -fPIE -pthread refuses.cc -o refuses
start output.txt ./refuses
await output.txt 50
for kinds in "" alloc alloc alloc alloc; do
  "$PENNA" record -q -f -o it.penna -k alloc -p "$pid" >recorder.txt 2>&1 &
  recorder=$!
  started+=("$recorder")
  await_served "$pid"
  if [ -n "$kinds" ]; then
    run penna ctl "$pid" off -k "$kinds"
    expect_eq 0 "$status" "$err"
  fi
  await_progress output.txt # calls begin like this
  run penna ctl "$pid" stop
  expect_eq 0 "$status" "$err"
  ended=0
  wait "$recorder" || ended=$?
  expect_eq 0 "$ended" "status of the recorder: $(cat recorder.txt)"
  await_progress output.txt # and have ended
  kill -0 "$pid" || fail "the program died"
done
