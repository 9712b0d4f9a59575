#!/bin/bash
# SPDX-License-Identifier: MIT
# Probes of Java's virtual machine: strings with a length are text, and each method call is recorded by name.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need default-jre-headless python3
java=/usr/lib/jvm/default-java/bin/java
python3 - <<'PY'
# Work.class, by hand, for a JRE brings no compiler:
#   static int inner(int n) { return n + 1; }
#   static int outer(int n) { return inner(n); }
#   public static synchronized void main(String[] a) { for (int i = 0; i != 100; i++) outer(i); Work.class.wait(1); }
import struct
pool = []
def entry(data):
    if data not in pool: pool.append(data)
    return pool.index(data) + 1
def utf8(text): return entry(struct.pack('>BH', 1, len(text)) + text.encode())
def klass(name): return entry(struct.pack('>BH', 7, utf8(name)))
def method_ref(owner, name, kind):
    return entry(struct.pack('>BHH', 10, klass(owner), entry(struct.pack('>BHH', 12, utf8(name), utf8(kind)))))
def call(name): return b'\xb8' + struct.pack('>H', method_ref('Work', name, '(I)I'))  # invokestatic
def method(access, name, kind, code):
    body = struct.pack('>HHI', 3, 2, len(code)) + code + struct.pack('>HH', 0, 0)
    return struct.pack('>HHHHHI', access, utf8(name), utf8(kind), 1, utf8('Code'), len(body)) + body
# ldc lconst_1 invokevirtual
wait = b'\x12' + bytes([klass('Work')]) + b'\x0a\xb6' + struct.pack('>H', method_ref('java/lang/Object', 'wait', '(J)V'))
methods = [method(8, 'inner', '(I)I', b'\x1a\x04\x60\xac'),            # iload_0 iconst_1 iadd ireturn
           method(8, 'outer', '(I)I', b'\x1a' + call('inner') + b'\xac'),
           method(0x29, 'main', '([Ljava/lang/String;)V',
                  b'\x03\x3c' + b'\xa7\x00\x0b' + b'\x1b' + call('outer') + b'\x57' + b'\x84\x01\x01' +
                  b'\x1b\x10\x64' + b'\xa0\xff\xf5' + wait + b'\xb1')]
this, above = klass('Work'), klass('java/lang/Object')
with open('Work.class', 'wb') as out:
    out.write(struct.pack('>IHHH', 0xcafebabe, 0, 49, len(pool) + 1) + b''.join(pool))
    out.write(struct.pack('>HHHHHH', 0x21, this, above, 0, 0, len(methods)) + b''.join(methods) + struct.pack('>H', 0))
PY
run "$java" -version
said=$err
run penna record -q -o version.penna -k points -e 'hotspot:*' -e 'hotspot_jni:*' -- "$java" -version
expect_eq 0 "$status" "status of java -version"
expect_contains "$err" "$said"
run penna replay version.penna
expect_match "$out" 'hotspot_jni:FindClass__entry env=[0-9]+ class="java/lang/[A-Za-z]+"'
expect_match "$out" 'hotspot_jni:GetStaticMethodID__entry env=[0-9]+ class=[0-9]+ name="[A-Za-z]+" signature="\(.*\).+"'

run penna record -q -o work.penna -k points -e 'hotspot:*' -- "$java" -XX:+DTraceMethodProbes -XX:+DTraceAllocProbes -XX:+DTraceMonitorProbes -cp . Work
expect_eq 0 "$status" "status of the program"
run penna replay work.penna
for method in inner outer; do
  for way in entry return; do
    expect_eq 100 "$(grep -c "hotspot:method__$way thread=1 class=\"Work\" method=\"$method\" signature=\"(I)I\"\$" <<<"$out")" "$way of $method"
  done
done
expect_eq 1 "$(grep -c 'hotspot:method__entry thread=1 class="Work" method="main" signature="(\[Ljava/lang/String;)V"' <<<"$out")" "main"
expect_eq 1 "$(grep -c 'hotspot:class__loaded class="Work" loader=[0-9]* shared=0$' <<<"$out")" "the class is loaded"
expect_match "$out" 'hotspot:thread__start name="Signal Dispatcher" thread=[0-9]+ native_thread=[0-9]+ daemon=1$'
expect_match "$out" 'hotspot:object__alloc thread=1 class="java/lang/String" bytes=24$'
expect_match "$out" 'hotspot:monitor__waited thread=1 monitor=[0-9]+ class="java/lang/Class"$'
run penna report work.penna points --where 'method == "inner"'
expect_match "$out" '^ *100 .*hotspot:method__entry'
run penna info work.penna
expect_match "$out" '^lost +nothing$'

# They cannot be switched from outside, and attempts are answered accordingly.
"$PENNA" record -q -o still.penna -k points -e 'python:*' -- /usr/bin/python3 -c 'import time; print("up", flush=True); time.sleep(60)' >up.txt &
recorder=$!
for _ in $(seq 600); do [ ! -s up.txt ] || break; sleep 0.1; done
run penna ctl "$(pgrep -P "$recorder" -x "python3.*")" off 'python:*'
expect_match "$err" "'python:\*' names ([0-9]+) sites? of 1 process: 0 switched off, [0-9]+ cannot be switched while the program runs"
kill "$(pgrep -P "$recorder" -x "python3.*")"
wait "$recorder" || true
