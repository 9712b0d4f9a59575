#!/bin/bash
# SPDX-License-Identifier: MIT
# Whichever single system call a program's filters forbid, its output and exit status, and those of programs it starts,
# are unchanged; and anything left unrecorded because of them is reported.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
build_c filtered
number() { awk -v name="__NR_$1" '$2 == name {print $3}' /usr/include/x86_64-linux-gnu/asm/unistd_64.h; }

calls='munmap mprotect mmap close getpid setsockopt rt_sigprocmask ftruncate prctl memfd_create gettid futex stat socket sendmsg
  sched_yield recvmsg recvfrom readlink pwrite64 open pread64 prlimit64 nanosleep madvise getppid getcwd fcntl connect membarrier
  process_vm_readv'
for call in $calls; do
  nr=$(number "$call")
  for how in exec fork child stay threads; do
    [ "$call $how" != 'futex threads' ] || continue  # joins with it, or finds the thread at its end
    run ./filtered prctl kill "$nr" $how
    alone="$status $out"
    run penna record -q -f -k alloc,locks,points -o filtered.penna -- ./filtered prctl kill "$nr" $how
    expect_eq "$alone" "$status $out" "$how without $call"
  done
done

# The remaining variants: by the other system call, and answered by a signal or an error.
for by in 'prctl trap' 'syscall kill' 'syscall errno'; do
  for how in exec fork; do
    run ./filtered $by "$(number socket)" $how
    alone="$status $out"
    run penna record -f -k alloc -o filtered.penna -- ./filtered $by "$(number socket)" $how
    expect_eq "$alone" "$status $out" "$how, $by"
    expect_match "$err" '20,00[0-9] allocation events'
    if [ $how = exec ]; then
      expect_match "$err" '\./filtered \(pid [0-9]+\) was not recorded: its seccomp filter forbids'
    else
      expect_contains "$err" '1 forked process was not recorded: an inherited restriction (seccomp, PR_SET_TSC)'
    fi
    run penna info filtered.penna
    expect_match "$out" 'was not recorded: it has a filter|1 program or forked process was not recorded'
    run penna check filtered.penna --max-peak 1G
    expect_eq 2 "$status" 'a limit, of what was recorded in part'
  done
done

# Calls that recording itself needs.
run penna record -f -k alloc -o filtered.penna -- ./filtered prctl kill "$(number rt_sigprocmask)" stay
expect_contains "$err" '1 process was not recorded to the end'
run penna info filtered.penna
expect_contains "$out" 'forbade itself system calls that recording needs'
run penna report alloc filtered.penna
expect_match "$out" '^20,00[0-9] allocations'

# Calls that it does not need cause no loss.
run penna record -f -k alloc -o filtered.penna -- ./filtered prctl kill "$(number ptrace)" exec
expect_match "$err" '40,00[0-9] alloc'
expect_missing "$err" 'not recorded'

# A filter that was not installed changes nothing.
build_c refused_filter
run penna record -f -k alloc -o refused.penna -- ./refused_filter
expect_eq "0 refused" "$status $out" "a filter that one thread cannot have"
expect_match "$err" '20,00[0-9] alloc'
expect_missing "$err" 'not recorded'
