#!/bin/bash
# SPDX-License-Identifier: MIT
# penna export perfetto: protobuf's own decoder reads it, every event is that of the CSV, heap profiles have its sums,
# and no field is unknown to it.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need protobuf-compiler python3-protobuf
cat >app.cc <<'PROGRAM'
#include <setjmp.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/wait.h>
#include <mutex>
#include <string>
#include <thread>
#include "penna/point.h"
static jmp_buf back;
static void* volatile kept;
static std::mutex lock;
__attribute__((noipa)) void jump() { longjmp(back, 1); }
__attribute__((noipa)) void jumper() { if (setjmp(back) == 0) jump(); }
__attribute__((noipa)) int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__attribute__((noipa)) void spanned(int number) {
  const char* text = "tex\xff\"t";
  PENNA_SPAN(app, job, number, text);
  PENNA_EVENT(app, values, -7, 7u, 1.5, true, &lock);
  fib(5);
  free(malloc(10 * number + 1));
  kept = malloc(1000);
}
__attribute__((noipa)) void waiter() { std::lock_guard<std::mutex> hold(lock); }
int main() {
  jumper();
  lock.lock();
  std::thread thread(waiter);
  usleep(50000);
  lock.unlock();
  thread.join();
  for (int i = 0; i < 3; i++) spanned(i);
  if (fork() == 0) {
    fib(3);
    _exit(0);
  }
  wait(nullptr);
  _exit(0);
}
PROGRAM
build_c app -finstrument-functions -finstrument-functions-exclude-file-list=/usr
penna record -q -o app.penna -- ./app
penna export perfetto app.penna -o app.pftrace
penna export csv app.penna -o app.csv

# The documented messages that may be in the file.
cat >trace.proto <<'PROTO'
syntax = "proto2";
message Trace { repeated TracePacket packet = 1; }
message TracePacket {
  optional ClockSnapshot clock_snapshot = 6;
  optional uint64 timestamp = 8;
  optional uint32 trusted_packet_sequence_id = 10;
  optional TrackEvent track_event = 11;
  optional InternedData interned_data = 12;
  optional uint32 sequence_flags = 13;
  optional ProfilePacket profile_packet = 37;
  optional TrackDescriptor track_descriptor = 60;
}
message ClockSnapshot {
  message Clock { optional uint32 clock_id = 1; optional uint64 timestamp = 2; }
  repeated Clock clocks = 1;
  optional uint32 primary_trace_clock = 2;
}
message ProcessDescriptor { optional int32 pid = 1; optional string process_name = 6; }
message ThreadDescriptor { optional int32 pid = 1; optional int32 tid = 2; optional string thread_name = 5; }
message TrackDescriptor {
  optional uint64 uuid = 1;
  optional ProcessDescriptor process = 3;
  optional ThreadDescriptor thread = 4;
  optional uint64 parent_uuid = 5;
}
message Name { optional uint64 iid = 1; optional string name = 2; }
message InternedString { optional uint64 iid = 1; optional bytes str = 2; }
message Mapping {
  optional uint64 iid = 1; optional uint64 build_id = 2; optional uint64 start = 4; optional uint64 end = 5;
  optional uint64 load_bias = 6; repeated uint64 path_string_ids = 7;
}
message Frame {
  optional uint64 iid = 1; optional uint64 function_name_id = 2; optional uint64 mapping_id = 3; optional uint64 rel_pc = 4;
}
message Callstack { optional uint64 iid = 1; repeated uint64 frame_ids = 2; }
message InternedData {
  repeated Name event_categories = 1;
  repeated Name event_names = 2;
  repeated InternedString function_names = 5;
  repeated Frame frames = 6;
  repeated Callstack callstacks = 7;
  repeated InternedString build_ids = 16;
  repeated InternedString mapping_paths = 17;
  repeated Mapping mappings = 19;
}
message HeapSample {
  optional uint64 callstack_id = 1; optional uint64 self_allocated = 2; optional uint64 self_freed = 3;
  optional uint64 alloc_count = 5; optional uint64 free_count = 6;
}
message ProcessHeapSamples {
  optional uint64 pid = 1; repeated HeapSample samples = 2; optional bool from_startup = 3; optional uint64 timestamp = 9;
  optional string heap_name = 11;
}
message ProfilePacket { repeated ProcessHeapSamples process_dumps = 5; optional bool continued = 6; optional uint64 index = 7; }
message DebugAnnotation {
  oneof value {
    bool bool_value = 2;
    uint64 uint_value = 3;
    int64 int_value = 4;
    double double_value = 5;
    string string_value = 6;
  }
  optional string name = 10;
}
message TrackEvent {
  enum Type { NONE = 0; SLICE_BEGIN = 1; SLICE_END = 2; INSTANT = 3; }
  repeated uint64 category_iids = 3;
  repeated DebugAnnotation debug_annotations = 4;
  optional Type type = 9;
  optional uint64 name_iid = 10;
  optional uint64 track_uuid = 11;
  optional string name = 23;
}
PROTO
protoc --python_out=. trace.proto
cat >check.py <<'PYTHON'
import collections, csv, sys
import trace_pb2
trace = trace_pb2.Trace()
trace.ParseFromString(open(sys.argv[1], 'rb').read())

def unknown(message):
    """Fields that the .proto does not have."""
    extra = message.ByteSize()
    message.DiscardUnknownFields()
    return extra - message.ByteSize()
assert unknown(trace) == 0, 'there are fields of other numbers'

rows = list(csv.DictReader(open(sys.argv[2], errors='replace', newline='')))
packets = trace.packet
assert packets[0].sequence_flags == 1 and all(p.sequence_flags == 2 for p in packets[1:])
assert {p.trusted_packet_sequence_id for p in packets} == {1}
clock = packets[0].clock_snapshot
assert clock.primary_trace_clock == 3 and {c.clock_id for c in clock.clocks} == {1, 3, 4}
zero = next(c.timestamp for c in clock.clocks if c.clock_id == 3)

categories, names, tracks, processes = {}, {}, {}, {}
events = collections.defaultdict(list)     # by tid: (time, type, category, name, annotations)
for packet in packets:
    for entry in packet.interned_data.event_categories: assert categories.setdefault(entry.iid, entry.name) == entry.name
    for entry in packet.interned_data.event_names: assert names.setdefault(entry.iid, entry.name) == entry.name
    if packet.HasField('track_descriptor'):
        track = packet.track_descriptor
        assert track.uuid not in tracks and track.uuid not in processes
        if track.HasField('process'): processes[track.uuid] = track.process.pid
        else:
            assert processes[track.parent_uuid] == track.thread.pid
            tracks[track.uuid] = (track.thread.pid, track.thread.tid)
    if packet.HasField('track_event'):
        event = packet.track_event
        is_end = event.type == event.SLICE_END
        name = None if is_end else names[event.name_iid] if event.HasField('name_iid') else event.name
        category = None if is_end else categories[event.category_iids[0]]
        values = {a.name: getattr(a, a.WhichOneof('value')) if a.WhichOneof('value') else None for a in event.debug_annotations}
        events[tracks[event.track_uuid]].append((packet.timestamp - zero, event.type, category, name, values))

BEGIN, END, INSTANT = 1, 2, 3
assert set(events) <= {(int(r['pid']), int(r['tid'])) for r in rows}
for thread in sorted({(int(r['pid']), int(r['tid'])) for r in rows}):
    mine = sorted(events[thread], key=lambda e: e[0])
    own = [r for r in rows if (int(r['pid']), int(r['tid'])) == thread]
    # What begins, and what happens at once: one for one.
    begins = [(t, c, n) for t, kind, c, n, _ in mine if kind == BEGIN and c in ('call', 'span')]
    assert begins == [(int(r['time_ns']), {'enter': 'call', 'span_begin': 'span'}[r['kind']], r['name'])
                      for r in own if r['kind'] in ('enter', 'span_begin')], thread
    points = [(t, n) for t, kind, c, n, _ in mine if c == 'point']
    assert points == [(int(r['time_ns']), r['name']) for r in own if r['kind'] == 'point']
    waits = [(t, n) for t, kind, c, n, _ in mine if c == 'wait']
    assert waits == [(int(r['time_ns']) - int(r['duration_ns']), 'wait ' + r['name']) for r in own if r['kind'].endswith('_wait')]
    # Ends: each closes the innermost; those that were recorded have their time, the others say how they ended.
    stack, ended = [], []
    for time, kind, category, name, values in mine:
        if kind == BEGIN: stack.append((category, name))
        elif kind == END:
            category, name = stack.pop()
            if category != 'wait' and 'end' not in values: ended.append((time, name))
    assert not stack, stack
    assert ended == [(int(r['time_ns']), r['name']) for r in own if r['kind'] in ('exit', 'span_end') and not r['end']], thread
    arguments = [v for _, kind, c, _, v in mine if kind in (BEGIN, INSTANT) and c in ('point', 'span')]
    texts = [r['arguments'] for r in own if r['kind'] in ('point', 'span_begin')]
    assert [list(v) for v in arguments] == [[a.split('=')[0] for a in t.split(';')] for t in texts], (arguments, texts)

# Heap profiles: allocated, freed and their numbers by stack are those of the CSV, whose stacks are folded names.
tables = collections.defaultdict(dict)
dumps, packets_of_heap = collections.defaultdict(lambda: collections.defaultdict(lambda: [0] * 4)), []
for packet in packets:
    for table in ('function_names', 'build_ids', 'mapping_paths', 'mappings', 'frames', 'callstacks'):
        for entry in getattr(packet.interned_data, table):
            assert entry.iid not in tables[table]
            tables[table][entry.iid] = entry
    if not packet.HasField('profile_packet'): continue
    packets_of_heap.append(packet.profile_packet)
    for dump in packet.profile_packet.process_dumps:
        assert dump.timestamp == packet.timestamp and dump.heap_name == 'malloc'
        for sample in dump.samples:
            frames = [tables['frames'][f] for f in tables['callstacks'][sample.callstack_id].frame_ids]
            for frame in frames: assert tables['mapping_paths'][tables['mappings'][frame.mapping_id].path_string_ids[0]].str
            stack = ';'.join(tables['function_names'][f.function_name_id].str.decode().replace(';', ':') for f in frames)
            of = dumps[dump.pid]['' if stack == '[no stack was recorded]' else stack]
            for i, value in enumerate((sample.self_allocated, sample.self_freed, sample.alloc_count, sample.free_count)): of[i] += value
assert [p.index for p in packets_of_heap] == list(range(len(packets_of_heap)))
assert [p.continued for p in packets_of_heap] == [True] * (len(packets_of_heap) - 1) + [False] * bool(packets_of_heap)
wanted, live = collections.defaultdict(lambda: collections.defaultdict(lambda: [0] * 4)), {}
for row in rows:
    where = (row['pid'], row['address'])
    if row['kind'] == 'alloc':
        live[where] = of = wanted[int(row['pid'])][row['stack']]
        of[0] += int(row['size'])
        of[2] += 1
    elif row['kind'] == 'free' and row['size']:
        live[where][1] += int(row['size'])
        live[where][3] += 1
assert dumps == wanted, (dumps, wanted)

everything = [e for of in events.values() for e in of]
print(len(everything), 'events,', len(names), 'names')
if len(sys.argv) > 3:
    seen = collections.Counter((c, n) for _, kind, c, n, _ in everything if kind != END)
    assert seen['call', 'fib(int)'] == 3 * 15 + 5 and seen['span', 'app:job'] == 3 and seen['point', 'app:values'] == 3, seen
    assert seen['wait', 'wait lock'] == 1 and len(processes) == 2 and len(events) == 3, seen
    values = next(v for _, _, c, n, v in everything if n == 'app:values')
    assert list(values.values())[:4] == [-7, 7, 1.5, True], values
    job = next(v for _, _, c, n, v in everything if c == 'span')
    assert list(job.values()) == [0, 'tex\ufffd"t'], job
    assert any(v.get('end', '').startswith('left by') for *_, v in everything), 'longjmp'
    assert any(v.get('end') == 'not left at the end' for *_, v in everything), 'main'
    assert max(stacks[0] - stacks[1] for of in dumps.values() for stacks in of.values()) >= 3000, dumps
PYTHON
/usr/bin/python3 check.py app.pftrace app.csv all || fail "the perfetto trace is not what the CSV says"

# A recording without calls, of a program that is killed.
cat >points.c <<'PROGRAM'
#include <signal.h>
#include "penna/point.h"
int main(void) {
  for (int i = 0; i < 5; i++) PENNA_EVENT(a, b, i);
  raise(SIGKILL);
}
PROGRAM
build_c points
run penna record -q -o points.penna -- ./points
penna export perfetto points.penna >points.pftrace
penna export csv points.penna >points.csv
expect_eq '5 events, 1 names' "$(/usr/bin/python3 check.py points.pftrace points.csv)"
