#!/bin/bash
# SPDX-License-Identifier: MIT
# penna replay --fields and --format: the same lines as columns of text, rows of CSV and objects of JSON, with every
# filter.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cat >shop.c <<'PROGRAM'
#include <pthread.h>
#include <stdlib.h>
#include "penna/point.h"
#define F __attribute__((noipa))
static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER;
F void leaf(void) {}
F void *serve(void *name) {
  pthread_setname_np(pthread_self(), name);
  pthread_mutex_lock(&door);
  void *volatile block = malloc(64);
  leaf();
  PENNA_EVENT(shop, sold, PENNA_ARG(what, "tea, \"green\"\n"));
  free(block);
  pthread_mutex_unlock(&door);
  return NULL;
}
int main(void) {
  for (int i = 0; i < 2; i++) {
    pthread_t thread;
    pthread_create(&thread, NULL, serve, i == 0 ? "first" : "second");
    pthread_join(thread, NULL);
  }
}
PROGRAM
build_c shop -finstrument-functions -finstrument-functions-exclude-file-list=penna/
penna record -q -k calls,alloc,locks,points -o shop.penna ./shop

# The three default columns; more of them, others, none.
penna replay shop.penna >plain.txt
penna replay shop.penna --fields time,duration,tid >same.txt
cmp plain.txt same.txt || fail "the columns time, duration and tid differ from those without --fields"
run penna replay shop.penna -f none -F leaf
expect_match "$out" '^leaf\(\);$'
run penna replay shop.penna -f +module,source,delta --thread first
expect_match "$out" '^ +TIME +DURATION +TID MODULE +SOURCE +DELTA  EVENT$'
expect_match "$out" '^ +[0-9.]+ +[0-9.]+ [nu]s +[0-9]+ shop +shop\.c:6 +[0-9.]+ [num]s +leaf\(\);$'
expect_missing "$out" second
run penna replay shop.penna -f address,task --thread second --merge -F leaf
expect_match "$out" '^0x[0-9a-f]+ second  +leaf\(\) \{$'

# Unknown fields: the nearest name is suggested, and all are listed.
run penna replay shop.penna --fields tid,modul
expect_eq 125 "$status" "status of an unknown field"
expect_contains "$err" "there is no field 'modul' (did you mean 'module'?): choose from time, duration, delta"
run penna replay shop.penna --tree --json
expect_eq 125 "$status" "status of --tree --json"

# Text, CSV and JSON have the same lines, each read by a reader of that format.
penna replay shop.penna --fields kind,tid,event >lines.txt
penna replay shop.penna --format csv --fields kind,tid,event >lines.csv
penna replay shop.penna --json --fields kind,tid,event >lines.json
penna replay shop.penna --json -n 3 >three.json
penna replay shop.penna --json --merge --stacks --tid "$(awk -F, '/sold/ { print $2; exit }' lines.csv)" >all.json
python3 - <<'CHECK'
import csv, json
text = [line.split(None, 2) for line in open("lines.txt") if not line.startswith(("#", "KIND")) and line[0] != "\n" and line[0].islower()]
text = [[kind, tid, event.strip()] for kind, tid, event in text if tid.isdigit()]
rows = [[row["kind"], row["tid"], row["event"]] for row in csv.DictReader(open("lines.csv"))]
whole = json.load(open("lines.json"))
lines = [[line["kind"], str(line["tid"]), line["event"]] for line in whole["lines"]]
assert len(rows) > 20 and rows == lines, (rows, lines)
assert text == rows, (text, rows)
assert whole["state"] == "complete" and "loss" in whole and whole["about"] == [], whole
three = json.load(open("three.json"))
assert len(three["lines"]) == 3 and three["notes"] == ["Stopped after 3 lines, as -n says."], three
lines = json.load(open("all.json"))["lines"]
assert {line["thread"] for line in lines} == {"first"}, lines
assert [line["time_ns"] for line in lines] == sorted(line["time_ns"] for line in lines), lines
block, = [line for line in lines if line["kind"] == "alloc" and line["event"].startswith("malloc(64)")]
assert block["stack"].endswith("serve") and block["depth"] == 1 and block["name"] == "malloc", block
sold, = [line for line in lines if line["kind"] == "point"]
assert '"tea, \\"green\\"\\x0a"' in sold["event"] and sold["name"] == "shop:sold", sold
CHECK

# Nothing left: a header, and an empty list.
run penna replay shop.penna --format csv -F no_such -r 5s-
expect_eq time_ns,duration_ns,pid,tid,thread,kind,depth,name,event "$out" "CSV without lines"
run penna replay shop.penna --json -F no_such -r 5s-
expect_contains "$out" '{"lines":[],"about":["There are no events to show'

# A reader that stops early is no error.
for format in csv json; do penna replay shop.penna --format $format | head -n 1 >/dev/null || fail "$format | head: wrong exit status or output"; done
