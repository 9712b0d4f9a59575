#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs that change their user, and their children and further programs, are followed; unrelated processes get
# nothing from the recorder, and give it nothing.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
chmod 755 .
mkdir -p p/bin p/lib out
chmod 777 out
cp "$PENNA" p/bin
cp "$(dirname "$PENNA")/../lib/libpenna-agent.so" p/lib
cat >busy.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void* volatile kept;
// ./busy [UID]: becomes that user, forks, and each allocates.
int main(int argc, char** argv) {
  if (argc > 1 && (setgid((gid_t)atoi(argv[1])) != 0 || setuid((uid_t)atoi(argv[1])) != 0)) return 2;
  const pid_t child = argc > 1 ? fork() : -1;
  for (int i = 0; i < 10000; ++i) kept = malloc(20);
  if (child == 0) _exit(0);
  if (child > 0) wait(NULL);
  printf("%d %d\n", (int)getuid(), (int)geteuid());
  return 3;
}
C
build_c busy
# same EVENTS COMMAND...: as root, the same with us as without, and that many allocations.
same() {
  local events=$1
  shift
  run as_root "$@"
  local alone="$status $out $err"
  run as_root "$work/p/bin/penna" record -f -k alloc -o of.penna -- "$@"
  expect_eq "$alone" "$status $out $(sed '/^penna: /d' err.txt)" "$*"
  expect_match "$err" "^penna: $events allocation events"
  expect_missing "$(grep -v /unix_chkpwd err.txt)" 'not recorded'  # setgid; Debian 13's PAM asks it
}
same '10,[0-9]{3}' setpriv --reuid=65534 --regid=65534 --clear-groups "$work/busy"
same '1[0-9],[0-9]{3}' su nobody -s /bin/sh -c "$work/busy"
same '1[0-9],[0-9]{3}' setpriv --reuid=65534 --regid=65534 --clear-groups /bin/sh -c "$work/busy; exit 5"
same '20,[0-9]{3}' "$work/busy" 65534
run as_root "$work/p/bin/penna" info of.penna
expect_eq 2 "$(grep -cE '^ *[0-9]+ +[0-9]+ .*busy' <<<"$out")" "processes"

# If the new user may not read the agent's file, this is reported.
mkdir closed
cp -r p closed/p
chmod 700 closed
run as_root "$work/closed/p/bin/penna" record -f -k alloc -o of.penna -- setpriv --reuid=65534 --regid=65534 --clear-groups "$work/busy"
expect_eq "3 65534 65534" "$status $out"
expect_match "$err" "^penna: .*/busy \(pid [0-9]+\) was not recorded: its user may not read the agent's file"

# An unrelated process that reads the public name of the socket is not answered. Nor is one that existed before the
# recorder's program.
cat >stranger.py <<'P'
import os, socket, sys, time
names = []
for i in range(500):
    names = [line.split()[-1] for line in open('/proc/net/unix') if '@' in line and '/penna-' in line and line.rstrip().endswith('/socket')]
    if names: break
    time.sleep(0.01)
os.setgid(65534); os.setuid(65534)
for name in names:
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(20)
    s.connect('\0' + name[1:])
    try: print('got', len(s.recv(4096)))
    except (ConnectionResetError, TimeoutError): print('got 0')  # of another test's recorder, which may be stopped
print('asked', len(names) > 0)
open(sys.argv[1], 'w').write('done')
P
as_root python3 stranger.py out/done >stranger.txt 2>&1 &
run as_root "$work/p/bin/penna" record -f -k alloc -o of.penna -- bash -c 'while [ ! -e out/done ]; do sleep 0.02; done'
wait
expect_eq "asked True" "$(grep -v '^got 0$' stranger.txt)" "what a stranger gets"
expect_match "$(<stranger.txt)" '^got 0$'
