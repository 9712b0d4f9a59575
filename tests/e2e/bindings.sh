#!/bin/bash
# SPDX-License-Identifier: MIT
# record --libcalls: each call reaches the function that the dynamic linker would have bound it to, whatever the
# deciding rule: library order, dlopen scopes, versions, hash table kinds. The program prints which function answered,
# the same as without Penna.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
lazy=(-O1 -fPIC -shared -Wl,-z,lazy -Wl,--no-as-needed)
answer() { echo "const char* $1(void) { return \"$2\"; }"; }
build() { gcc "${lazy[@]}" -x c - -o "$@"; }  # build NAME.so [options...] <source

# The answering functions: one in each of these; the libraries that call them do not depend on any of them.
for who in first second third local deep; do answer who "$who" | build lib$who.so; done
ask='const char* who(void); const char* NAME(void) { return who(); }'
for asker in linked after_global in_local own_need deep_need root_need symbolic late; do
  need=()
  case $asker in own_need) need=(-L. -llocal) ;; deep_need) need=(-L. -ldeep) ;; esac
  echo "$ask" | build lib$asker.so -DNAME=ask_$asker "${need[@]}" -Wl,-rpath,"$PWD"
done
# A caller that has an answer itself, by the dynamic linker's order or by its own.
for way in plain symbolic protected; do
  flags=(); attribute=
  case $way in symbolic) flags=(-Wl,-Bsymbolic) ;; protected) attribute='__attribute__((visibility("protected")))' ;; esac
  echo "$attribute const char* who(void) { return \"own $way\"; } const char* ask_own_$way(void) { return who(); }" | build libown_$way.so "${flags[@]}"
done
# A dlopened root whose dependency calls: the lookup covers everything that was opened, not only the caller.
{ answer who root; answer ask_root unused; } | build libroot.so -L. -lroot_need -Wl,-rpath,"$PWD"

# Versions: of two, the default one, the one linked with, and the first for callers without version information.
cat >versions.c <<'PROGRAM'
const char* old_which(void) { return "old"; }
const char* new_which(void) { return "new"; }
__asm__(".symver old_which,which@V1");
__asm__(".symver new_which,which@@V2");
PROGRAM
printf 'V1 { global: which; local: *; };\nV2 { } V1;\n' >versions.map
gcc "${lazy[@]}" versions.c -Wl,--version-script=versions.map -Wl,-soname,libversions.so -o libversions.so
printf 'V1 { global: which; local: *; };\n' >before.map
mkdir before && answer which unused | build before/libversions.so -Wl,--version-script=before.map -Wl,-soname,libversions.so
mkdir without && answer which unused | build without/libversions.so -Wl,-soname,libversions.so
for age in old new none; do
  case $age in old) at=before ;; new) at=. ;; none) at=without ;; esac
  echo "const char* which(void); const char* ask_$age(void) { return which(); }" | build lib$age.so -L$at -lversions
done
# A library's own versions, called by itself through its PLT.
cat >selves.c <<'PROGRAM'
const char* old_self(void) { return "old self"; }
const char* new_self(void) { return "new self"; }
__asm__(".symver old_self,self@V1");
__asm__(".symver new_self,self@@V2");
extern const char* asks_old(void);
__asm__(".symver asks_old,self@V1");
const char* ask_self(void) { return asks_old(); }
PROGRAM
printf 'V1 { global: self; ask_self; };\nV2 { } V1;\n' >selves.map
gcc "${lazy[@]}" selves.c -Wl,--version-script=selves.map -o libselves.so
# A function with two implementations, selected when it is bound.
cat >forms.c <<'PROGRAM'
static const char* one(void) { return "one form"; }
static const char* (*choose(void))(void) { return one; }
const char* form(void) __attribute__((ifunc("choose")));
PROGRAM
gcc "${lazy[@]}" forms.c -o libforms.so
echo 'const char* form(void); const char* ask_form(void) { return form(); }' | build libformed.so -L. -lforms
# Defined by the program, which takes precedence; defined by a preloaded library.
for name in overridden preloaded; do answer $name library; done | build liblibrary.so
answer preloaded preload | build libpreload.so
echo 'const char *overridden(void), *preloaded(void); const char* ask_overridden(void) { return overridden(); }
const char* ask_preloaded(void) { return preloaded(); }' | build libuser.so -L. -llibrary

cat >app.c <<'PROGRAM'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
typedef const char* answer(void);
answer ask_linked, ask_old, ask_new, ask_none, ask_form, ask_overridden, ask_preloaded, ask_self;
const char* overridden(void) { return "program"; }
static void* open_one(const char* name, int mode) {
  char path[200];
  snprintf(path, sizeof path, "%s%s.so", PATH, name);
  void* handle = dlopen(path, RTLD_LAZY | mode);
  if (handle == NULL) printf("%s\n", dlerror());
  return handle;
}
static void ask(void* handle, const char* name) {
  answer* asked = (answer*)dlsym(handle, name);
  printf("%s: %s\n", name, asked != NULL ? asked() : "?");
}
int main(void) {
  printf("linked %s, old %s, new %s, none %s, form %s, overridden %s, preloaded %s, self %s\n", FIRST ? ask_linked() : "nobody",
         ask_old(), ask_new(), ask_none(), ask_form(), ask_overridden(), ask_preloaded(), ask_self());
  ask(open_one("own_plain", RTLD_LOCAL), "ask_own_plain");
  ask(open_one("own_symbolic", RTLD_LOCAL), "ask_own_symbolic");
  ask(open_one("own_protected", RTLD_LOCAL), "ask_own_protected");
  ask(open_one("own_need", RTLD_LOCAL), "ask_own_need");
  ask(open_one("deep_need", RTLD_LOCAL | RTLD_DEEPBIND), "ask_deep_need");
  void* root = open_one("root", RTLD_LOCAL);
  ask(root, "ask_root_need");
  open_one("third", RTLD_LOCAL);
  open_one("second", RTLD_GLOBAL);
  open_one("third", RTLD_NOLOAD | RTLD_GLOBAL);
  ask(open_one("after_global", RTLD_LOCAL), "ask_after_global");
  ask(open_one("late", RTLD_LOCAL | RTLD_DEEPBIND), "ask_late");
  const char* const failed = dlsym(RTLD_DEFAULT, "nowhere") ? "" : "not there";
  printf("%s, %s\n", failed, dlerror() != NULL ? "and said so" : "and nothing said");
  return 5;
}
PROGRAM
libraries=(-Wl,--no-as-needed -L. -llinked -lold -lnew -lnone -lversions -lformed -lforms -luser -llibrary -lselves)
check() {  # check WHAT PATH options...
  local what=$1 path=$2
  shift 2
  gcc -O1 "$@" -DPATH="\"$path\"" -DFIRST="${first:+1}+0" app.c -o app "${libraries[@]}" -Wl,-z,lazy,--allow-shlib-undefined
  run env LD_PRELOAD="$PWD/libpreload.so" ./app
  plain=$out
  expect_eq 5 "$status" "exit status without us ($what)"
  for kinds in calls calls,alloc,locks; do
    run env LD_PRELOAD="$PWD/libpreload.so" "$PENNA" record -q -k $kinds --libcalls -o app.penna -f -- ./app
    expect_eq 5 "$status" "exit status ($what)"
    expect_eq "$plain" "$out" "who answers ($what)"
    penna report calls app.penna --format csv >calls.csv
    for name in who which form overridden preloaded; do
      grep -q "\b$name\b" calls.csv || fail "no call of $name recorded ($what)"
    done
  done
}
for first in '' -lfirst; do
  libraries+=($first)
  for hash in gnu sysv both; do
    check "hash table $hash, $first" "$PWD/lib" -Wl,--hash-style=$hash -Wl,-rpath,"$PWD"
    check "by names, hash table $hash, $first" lib -Wl,--hash-style=$hash -Wl,--enable-new-dtags,-rpath,"$PWD"
  done
  check "at a fixed address, $first" "$PWD/lib" -fno-pie -no-pie -Wl,-rpath,"$PWD"
done
