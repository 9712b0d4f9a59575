#!/bin/bash
# SPDX-License-Identifier: MIT
# A program that gains privileges through its file (setuid, setgid) when started by another user is not recorded:
# nothing is preloaded into it. It runs as without Penna, and a sentence reports it with the reason, however it is
# started.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
chmod 755 .
mkdir -p p/bin p/lib out
chmod 777 out
cp "$PENNA" p/bin
cp "$(dirname "$PENNA")/../lib/libpenna-agent.so" p/lib
cat >who.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
extern char** environ;
int main(void) {
  int ours = 0;
  for (char** one = environ; *one != NULL; one++) ours += strncmp(*one, "PENNA_", 6) == 0 || strncmp(*one, "LD_PRELOAD=", 11) == 0;
  free(malloc(10));
  printf("real %d, effective %d, %d of ours\n", getuid(), geteuid(), ours);
  return 6;
}
C
cat >starter.c <<'C'
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
extern char** environ;
// ./starter HOW PROGRAM
int main(int argc, char** argv) {
  char* const words[] = {argv[2], NULL};
  pid_t child;
  int status = 0;
  if (argc != 3) return 1;
  if (strcmp(argv[1], "exec") == 0) return execv(words[0], words);
  if (strcmp(argv[1], "system") == 0) return system(words[0]) >> 8;
  if (strcmp(argv[1], "spawn") == 0 && posix_spawn(&child, words[0], NULL, NULL, words, environ) != 0) return 1;
  if (strcmp(argv[1], "fork") == 0 && (child = fork()) == 0) return execv(words[0], words);
  waitpid(child, &status, 0);
  return status >> 8;
}
C
build_c who
build_c starter
cp who setgid
mv who setuid
as_root chown root:root setuid setgid
as_root chmod 4755 setuid
as_root chmod 2755 setgid
nobody() { as_root setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all "$@"; }

for how in exec system spawn fork; do
  for program in setuid setgid; do
    run nobody ./starter $how "./$program"
    alone="$status $out"
    run nobody p/bin/penna record -f -k alloc -o out/r.penna -- ./starter $how "./$program"
    expect_eq "$alone" "$status $out" "$program by $how"
    expect_match "$err" "^penna: \./$program \(pid [1-9][0-9]*\) was not recorded: it is setuid or setgid, has capabilities or"
    expect_eq 1 "$(grep -c 'was not recorded' <<<"$err")" "sentences about $program by $how"
    run nobody p/bin/penna info out/r.penna
    expect_match "$out" "^\./$program \(pid [1-9][0-9]*\) was not recorded: it is setuid or setgid"
  done
done

# As the command itself.
run nobody ./setuid
alone="$status $out"
run nobody p/bin/penna record -f -k alloc -o out/r.penna -- ./setuid
expect_eq "$alone" "$status $out" "a setuid command"
expect_contains "$err" "nothing was recorded of ./setuid: it is setuid or has capabilities, so nothing can be preloaded"

# Started by the file's owner, it gains no privileges: it is recorded.
run as_root p/bin/penna record -f -k alloc -o root.penna -- ./starter spawn ./setuid
expect_eq 6 "$status" "setuid by root"
expect_missing "$err" 'not recorded'
