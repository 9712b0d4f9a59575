#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Programs and recordings modified while being read: a correct answer or one sentence, never a crash.
. "$(dirname "$0")/common.sh"

rounds=10
cat >app.cc <<'C'
#include <stdlib.h>
#include <unistd.h>
extern "C" __attribute__((noinline, noclone)) void *leaf(int n) { void *p = malloc(n + 1); asm volatile("" : "+r"(p)); return p; }
extern "C" __attribute__((noinline, noclone)) int middle(int n) { void *p = leaf(n); if (n % 7) free(p); return n; }
int main(int argc, char **argv) {
  for (int i = 0; i < 500; ++i) middle(i);
  if (argc > 1) usleep(atoi(argv[1]));
}
C
g++ -O1 -g -Wl,--build-id=sha1 app.cc -o app
run penna record -q -k calls,alloc -F leaf -F middle -o good.penna ./app
expect_eq 0 "$status" "record"
g++ -O1 -g -Wl,--build-id=sha1 -DOTHER -O0 app.cc -o other
cp app whole
cp good.penna recording

# Truncates, rewrites and relinks until its folder is gone.
disturb() {
  local i=0
  while [ -e going ]; do
    i=$((i + 1))
    case $((i % 4)) in
      0) : >app ;;
      1) cat whole >app ;;
      2) truncate -s $((i * 811 % 20000)) app; cat other >app; cat whole >app ;;
      3) truncate -s $((i * 4099 % 60000)) recording; cat good.penna >recording ;;
    esac 2>/dev/null
  done
}

# A crash is a status above 128; messages are single sentences of our own.
check() {
  [ "$status" -lt 128 ] || fail "$* ended with status $status"
  [ "$status" = 0 ] || [ -n "$err$out" ] || fail "$* failed with status $status and said nothing"
  expect_missing "$err" "SIGBUS"
}

: >going
chmod +x app whole other
disturb &
disturber=$!
for ((i = 0; i < rounds; ++i)); do
  for words in "report good.penna calls" "report good.penna alloc" "report good.penna alloc --by file" "list app" "lint app" \
    "info good.penna" "export chrome good.penna -f -o out.json" "report recording calls" "report recording alloc" \
    "info recording" "replay recording" "export folded recording -f -o out.folded"; do
    # shellcheck disable=SC2086
    run penna $words
    check "penna $words"
    case $words in
      # Frames of the other build, where the same addresses are other functions, are never shown for these.
      "report good.penna calls") expect_missing "$out" "_start" ;;
    esac
  done
done
rm going
wait "$disturber"

# During recording. The program itself dies if its own file is truncated, as it would without us: it is complete at
# startup, and a library that it no longer needs is what changes.
cat >lib.c <<'C'
#include <stdlib.h>
__attribute__((noinline)) void *made(int n) { return malloc(n); }
C
gcc -O1 -g -shared -fPIC lib.c -o libmade.so
cat >user.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void) {
  for (int i = 0; i < 50; ++i) {
    void *library = dlopen("./libmade.so", RTLD_NOW);
    void *(*made)(int) = library ? (void *(*)(int))dlsym(library, "made") : 0;
    if (made) free(made(10));
    free(malloc(i + 1));
    if (library) dlclose(library);
  }
  puts("done");
}
C
build_c user -ldl
cp libmade.so safe.so
: >going
while [ -e going ]; do cp safe.so new.so; mv new.so libmade.so; : >debug.part; cp safe.so libmade.debug; : >libmade.debug; done 2>/dev/null &
disturber=$!
for ((i = 0; i < rounds; ++i)); do
  for words in "-F made -F main" "-k calls,alloc" "-k calls,alloc -F * --libcalls"; do
    set -f
    # shellcheck disable=SC2086
    run penna record -q -f -o r.penna $words ./user
    set +f
    expect_eq 0 "$status" "record $words"
    expect_contains "$out" "done"
  done
done
rm going
wait "$disturber"
