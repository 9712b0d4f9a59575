#!/bin/bash
# SPDX-License-Identifier: MIT
# feather_trace.h: an example in the style of Feather-Trace, and its functions one by one, as C and C++ with both
# compilers.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
compat=$PENNA_SOURCE/compat/feather-trace
include=(-I"$compat" -I"$PENNA_SOURCE/include" -Wall -Wextra -Werror)
readings() { /usr/bin/python3 -c 'import struct; print(*["%d:%d" % r[:2] for r in struct.iter_unpack("=iiQ", open("kettle.ft", "rb").read())])'; }
wanted='10:20 10:40 10:60 10:80 10:100'

for way in 'gcc -std=c11 -O0' 'gcc -std=gnu11 -O3' 'clang -std=c11 -O2' 'g++ -std=c++17 -O2 -x c++' 'clang++ -std=c++17 -O2 -x c++'; do
  # shellcheck disable=SC2086
  $way "${include[@]}" "$PENNA_SOURCE/examples/kettle.c" -o kettle
  rm -f kettle.ft
  run ./kettle
  expect_eq '0
first kettle
1 and 1 triggers are on
second kettle
event 20: it boils
third kettle
fourth kettle
0 readings without room' "$status
$out" "the example, built with $way"
  expect_eq "$wanted $wanted" "$(readings)" "what was saved, built with $way"
  expect_eq 600 "$(stat -c %a kettle.ft)" "who may read it"

  # shellcheck disable=SC2086
  $way "${include[@]}" -D_GNU_SOURCE "$PENNA_SOURCE/tests/programs/feather_calls.c" -o calls
  run ./calls flushed.ft
  expect_eq "0 " "$status $err" "the functions, built with $way"
  expect_eq "0 1 2 3 4 5" "$(od -An -v -t d8 -w8 flushed.ft | xargs)" "what was flushed beside a writer that never finishes"
done

# Build and run it following docs/from-feather-trace.md.
copy_of_pages
(cd copy && eval "$(doc_block from-feather-trace.md 'examples/kettle.c -o kettle' | sed -n 's/^\$ //p')" >said.txt && cp kettle.ft ..)
expect_eq "$(./kettle)" "$(<copy/said.txt)" "the example, built as the page says"

# All names in its headers, used as in its examples.
cat >all.c <<'PROGRAM'
#include <stdio.h>
#include "feather_userspace.h"
#include "ft_userspace.h"
#include "feather_buffer.h"
#include "ft_event.h"
#include "gcc-helper.h"
struct event { int id; char text[40]; };
static struct ft_buffer* buffer;
static feather_callback void keep(int id, char* text) {
  struct event* event;
  if (!ft_buffer_start_write(buffer, (void**)&event)) return;
  event->id = id;
  strncpy(event->text, text, sizeof event->text - 1);
  ft_buffer_finish_write(buffer, event);
}
int main(unused(int argc), unused(char** argv)) {
  struct event event;
  INIT_FT_EVENTS();
  buffer = alloc_ft_buffer(4, sizeof event);
  if (!buffer) exit(1);
  ft_event1(123, keep, "unheard");
  printf("%d", ft_enable_event_in_table(123, NULL, NULL));
  ft_enable_event(234);
  ft_event1(123, keep, "one");
  ft_event1(234, keep, "two");
  printf("%d%d\n", ft_disable_event_in_table(123, NULL, NULL), ft_is_event_enabled_in_table(234, NULL, NULL));
  ft_event1(123, keep, "unheard");
  ft_disable_all_events_in_table(NULL, NULL);
  ft_event1(234, keep, "unheard");
  while (ft_buffer_read(buffer, &event)) printf("%d %s\n", event.id, event.text);
  return 0;
}
PROGRAM
for compiler in gcc clang; do
  $compiler "${include[@]}" all.c -o all
  expect_eq $'332\n123 one\n234 two' "$(./all)" "headers of the examples, by $compiler"
done

# A buffer whose file cannot be created, declared as in the original's tools, and one whose slot count is invalid.
cat >names.c <<'PROGRAM'
#include "feather_buffer.h"
#include "ft_userspace.h"
struct ft_buffer* alloc_flushed_ft_buffer(unsigned slots, unsigned size, const char* file, void** handle);
int main(int argc, char** argv) {
  void* handle;
  alloc_flushed_ft_buffer(argc > 2 ? 3 : 4, 8, argv[1], &handle);
  return argc;
}
PROGRAM
gcc "${include[@]}" names.c -o names
run ./names /nowhere/file.ft
expect_eq "1 Feather-Trace: cannot write /nowhere/file.ft" "$status $err" "a file that cannot be made"
run ./names file.ft three
expect_contains "$status $err" "1 Feather-Trace: no buffer of 3 slots"
