# SPDX-License-Identifier: MIT
"""The cases of the torture corpus, as one table. run.py interprets their fields.

A command's words may contain {bin} (the corpus' programs), {tmp} (an empty directory, a new one for each run) and
{big} (a file of 1 MB). A run's output is compared after the name of its directory is removed.
"""
import dataclasses

EACH = ('calls', 'alloc', 'locks', 'points', 'all')
BY_CALLS = ('calls', 'all')


@dataclasses.dataclass
class Case:
    command: list
    kinds: tuple = EACH
    options: tuple = ()     # more of penna record's
    stdin: bytes = b''      # through a pipe
    pty: list = None        # a terminal instead: (wait for this text, then type that) pairs
    env: dict = None        # the whole environment; None = a small usual one
    more_env: dict = None   # added to it
    in_shell: bool = False  # an interactive shell starts it, as ./go
    limits: dict = None     # letter of sh's ulimit: value, for the target only
    outer: str = ''         # how a shell starts it, or us: the command is "$@"
    user: str = ''          # run as this user, everything copied to where that user can read it
    setuid: bool = False    # the program of the corpus that is run is setuid root
    file: str = ''          # this file is waited for and compared too
    options: tuple = ()     # more of them for penna record
    status: int = None      # there is nothing to compare with: penna's own exit status must be this
    says: str = ''          # one line of penna's must hold this word
    silent: tuple = ()      # kinds in which a program of the corpus has nothing to record
    balanced: bool = True   # all calls are left in ways that can be told
    timeout: int = 120


def program(name, *arguments, **fields):
    return Case(['{bin}/' + name, *arguments], **fields)


def shell(script, **fields):
    return Case(['/bin/sh', '-c', script], **fields)


STACKS = ('-F', '*', '--module', 'torture*/*', '-T', '*@stack')
OWN_LOCKS = ('--lock-functions', 'own_lock=own_unlock,try=own_trylock', '--lock-functions', 'big_lock=big_unlock',
             '--lock-functions', 'leaving_lock=leaving_unlock', '--lock-functions', 'looking_lock=looking_unlock')
ALLOCATORS = ('mimalloc', 'tcmalloc', 'tcmalloc_minimal')
SANITIZED = ('gcc_address', 'gcc_address_static', 'gcc_thread', 'gcc_thread_static', 'gcc_undefined', 'gcc_undefined_static',
             'clang_address', 'clang_address_shared', 'clang_thread', 'clang_undefined', 'clang_undefined_shared',
             'clang_hwaddress')
CASES = {}

# --- How a program ends.
for status in (0, 1, 7, 255):
    CASES[f'exit_{status}'] = program('exit_ways', 'return', str(status))
for way in ('exit', '_exit', 'abort', 'quick_exit', 'atexit', 'atexit-exit', 'thread', '_thread', 'main-first'):
    CASES[f'end_{way}'] = program('exit_ways', way, '9')
for signal in ('SEGV', 'ABRT', 'KILL', 'TERM', 'FPE', 'ILL', 'TRAP', 'INT', 'HUP', 'PIPE', 'USR1', 'OVERFLOW'):
    CASES[f'die_{signal}'] = program('die_by', signal)
for signal in ('SEGV', 'ABRT', 'KILL', 'TERM'):
    CASES[f'die_{signal}_thread'] = program('die_by', signal, 'thread')
CASES |= {
    'shell_exit': shell('exit 7'),
    'shell_segv': shell('kill -SEGV $$'),
    'shell_child_dies': shell('{bin}/die_by ABRT; echo $?; {bin}/die_by SEGV thread; echo $?; exit 3'),
    'not_found': Case(['{tmp}/no-such-program'], status=127, says='no-such-program'),
    'not_executable': Case(['{big}'], status=126, says='big'),

    # --- Input, output and terminals.
    'stdin_cat': Case(['cat'], stdin=bytes(range(256)) * 4096),
    'stdin_read': program('read_input', stdin=b'feather\n' * 131072, silent=('locks', 'points')),
    'stdin_closed': program('show_self', outer='exec "$@" <&-'),
    'output_closed': program('exit_ways', 'return', '4', outer='exec "$@" >&-'),
    'all_closed': program('exit_ways', 'return', '4', outer='exec "$@" <&- >&- 2>&-'),
    'output_full': shell('{bin}/show_self >/dev/full; echo $?'),
    'error_closed': program('show_self', outer='exec "$@" 2>&-'),
    'output_is_input': program('read_input', silent=('locks', 'points'), outer='"$@" <>/dev/null; echo $?'),

    # --- What it inherits.
    'ignored_child': program('exit_ways', 'return', '3', outer='trap "" CHLD; exec "$@"'),
    'ignored': program('show_self', outer='trap "" INT QUIT PIPE USR1 CHLD TSTP; exec "$@"'),
    'blocked': program('show_self', outer='exec env --block-signal=INT,TERM,CHLD,USR2,SEGV,PIPE "$@"'),
    'nohup': program('show_self', outer='exec nohup "$@" 2>/dev/null'),
    'descriptors': program('show_self', outer='exec "$@" 3</dev/null 5</dev/null 9>&1'),
    'own_child': shell('sleep 0.2 & exec {bin}/show_self'),
    'umask': Case(['/bin/sh', '-c', 'umask'], outer='umask 0137; exec "$@"'),
    'asked_to_end': program('interrupted', 'handle', outer='timeout -s INT 1 "$@"; echo $?'),
    'asked_to_die': program('interrupted', 'default', outer='timeout -s TERM 0.5 "$@"; echo $?'),
    'broken_pipe': shell('yes | head -c 100000 | wc -c; {bin}/die_by PIPE | cat'),
    # Its prompt, after the last line of a screen, shows that it reads keys.
    'tty_less': Case(['less', '{big}'], pty=[('\x1b[27m\x1b[K', ' '), ('45 of a file to read\r\n:', '/line 77\n'),
                                             ('99 of a file to read\r\n:', 'q')]),
    'tty_password': program('ask_password', pty=[('Password: ', 'secret\n'), ('Name: ', 'feather\n')]),
    'tty_interrupt': program('interrupted', 'handle', pty=[('ready', '\x03')]),
    'tty_interrupt_default': program('interrupted', 'default', pty=[('ready', '\x03')]),
    'tty_interrupt_ignored': program('interrupted', 'ignore', pty=[('ready', '\x03'), ('ready', 'on\n')]),
    'tty_quit': program('interrupted', 'handle', pty=[('ready', '\x1c')]),
    'tty_end_of_file': Case(['cat'], pty=[('', 'one\n'), ('one\r\none', '\x04')]),
    'tty_jobs': program('interrupted', 'handle', in_shell=True,
                        pty=[('$ ', './go\n'), ('ready', '\x1a'), ('$ ', 'jobs\n'), ('$ ', 'fg\n'), ('./go\r\n', '\x03'),
                             ('$ ', 'echo status $?\n'), ('$ ', 'exit 6\n')]),
    'tty_shell': Case(['bash', '--norc', '--noprofile', '-i'], more_env={'PS1': '$ '},
                      pty=[('$ ', '{bin}/interrupted handle\n'), ('ready', '\x1a'), ('$ ', 'bg\n'), ('$ ', 'fg\n'),
                           ('interrupted handle\r\n', '\x03'), ('$ ', 'echo status $?\n'), ('$ ', 'exit 6\n')]),

    # --- Trees of processes.
    **{f'tree_{way}': program('tree', way, '3')
       for way in ('fork', 'vfork', 'spawn', 'system', 'popen', 'execle', 'execlp', 'fork-only', 'clean-env')},
    'daemon': program('daemon', '{tmp}/done', file='{tmp}/done'),
    'fork_threads': program('fork_threads'),
    'processes': program('processes', '3000', kinds=('calls',), timeout=400),
    'processes_some': program('processes', '200', silent=('locks', 'points')),
    'shell_loop': shell('i=0; while [ $i -lt 60 ]; do /bin/true; i=$((i+1)); done; echo $i'),
    'pipeline': shell('cat {big} | sort -r | tail -n 3; (exit 5) || echo sub $?'),

    # --- What a program sees of itself.
    'close_range': program('close_all', 'range'),
    'close_from': program('close_all', 'closefrom'),
    'close_loop': program('close_all', 'loop'),
    'see_self': program('show_self', 'one', 'two words', ''),
    'see_env': Case(['env'], more_env={'ODD': 'a=b=c', 'EMPTY': ''}),
    'see_env_child': shell('env | sort; exec env'),
    'env_empty': Case(['env'], env={}),
    'env_i': Case(['env', '-i', 'env']),
    'env_i_program': Case(['env', '-i', '{bin}/show_self', 'x']),
    'arguments_many': program('arguments', 'again', *(f'argument-{i}' for i in range(60000))),
    'arguments_long': program('arguments', *('x' * 130000 for _ in range(8)), more_env={'LONG': 'y' * 130000}),
    'environment_many': program('arguments', 'again', more_env={f'V{i}': str(i) for i in range(10000)}),
    'user_preload': program('preload_user', more_env={'LD_PRELOAD': '{bin}/preload_a.so:{bin}/preload_b.so'}),
    'user_preload_spaces': program('preload_user', more_env={'LD_PRELOAD': '{bin}/preload_b.so {bin}/preload_a.so'}),
    'user_preload_child': shell('LD_PRELOAD={bin}/preload_a.so {bin}/preload_user; {bin}/preload_user'),
    'user_preload_missing': Case(['env', 'LD_PRELOAD=/no/such/library.so', '{bin}/exit_ways']),

    # --- Code that contains the tracer's hooks.
    'threads': program('threads'),
    'dlopen_loop': program('dlopen_loop', '{bin}/plugin.so'),
    'open_amid': program('open_amid', '{bin}/opened_amid.so', '{bin}/opened_amid_waiting.so'),
    'open_amid_any_time': program('open_amid', '{bin}/opened_amid.so', '{bin}/opened_amid_waiting.so', '300'),
    # The dynamic linker must see its real caller: nothing of ours runs after the call.
    'open_amid_passed': program('open_amid', '{bin}/opened_amid.so', '$ORIGIN/opened_amid_waiting.so'),
    'open_amid_passed_libcalls': program('open_amid', '{bin}/opened_amid.so', '$ORIGIN/opened_amid_waiting.so', kinds=BY_CALLS,
                                         options=('--libcalls',), silent=('locks', 'points')),
    'open_amid_libcalls': program('open_amid', '{bin}/opened_amid.so', '{bin}/opened_amid_waiting.so', kinds=BY_CALLS,
                                  options=('--libcalls',), silent=('locks', 'points')),
    'exceptions': program('exceptions'),
    'terminate': program('terminate', silent=('locks', 'points')),
    'jumps': program('jumps'),
    'coroutines': program('coroutines'),
    'signals': program('signals', 'safe'),
    'signals_busy': program('signals', 'busy'),
    'signals_alternate': program('signals', 'busy', 'alternate'),
    'cancel': program('cancel', silent=('points',)),
    'leave_handlers': program('leave_handlers', '1000', silent=('alloc', 'locks')),
    'handlers': program('handlers'),
    'untouched_heap': program('untouched_heap'),   # the libraries of a program of C: libgcc's functions are not there
    'points': program('points', silent=('locks',)),
    'locks': program('locks', silent=('points',)),
    'own_locks': program('own_locks', kinds=('locks', 'all'), options=OWN_LOCKS),
    'waits': program('waits', silent=('points',)),
    'atomic_waits': program('atomic_waits', silent=('points',)),
    'constructors': program('constructors'),
    'own_malloc': program('own_malloc'),
    **{f'{way}_malloc': program(f'{way}_malloc', timeout=30) for way in ('spinning', 'locked', 'asking')},
    'threads_jemalloc': program('threads_jemalloc'),
    **{f'threads_{name}': program('threads', more_env={'LD_PRELOAD': f'lib{name}.so'}) for name in ALLOCATORS},
    'small_stack': program('small_stack'),

    # --- Ways into functions and out of them.
    'exceptions_static': program('exceptions_static', kinds=BY_CALLS),
    'exceptions_llvm': program('exceptions_llvm', kinds=BY_CALLS),
    'throws_across': program('throws_across', '{bin}/thrower_traced.so', '{bin}/thrower_plain.so', kinds=BY_CALLS,
                             silent=('locks', 'points')),
    'throws_static': program('throws_across', '{bin}/thrower_plain.so', '{bin}/thrower_static.so', kinds=BY_CALLS,
                             silent=('locks', 'points')),
    'coroutine_throws': program('coroutine_throws', kinds=BY_CALLS),
    'look_back': program('look_back', kinds=BY_CALLS),
    'leave_amid': program('leave_amid', kinds=BY_CALLS, balanced=False),
    'tail_calls': program('tail_calls', kinds=BY_CALLS),
    'vforks': program('vforks', kinds=BY_CALLS),
    'look_up': program('look_up', '{bin}/looked_up.so', kinds=BY_CALLS, options=('--libcalls',),
                       silent=('locks', 'points')),
    'look_up_named': program('look_up', '{bin}/looked_up.so', kinds=BY_CALLS, silent=('locks', 'points'),
                             options=('--libcalls', '-F', 'plugin_*', '-F', 'strto*', '-A', 'plugin_work@arg1')),
    'reopen': program('reopen', '{bin}/looked_up.so', '{bin}/looked_up_too.so', kinds=BY_CALLS, options=('--libcalls',),
                      silent=('locks', 'points')),
    'reopen_locked': program('reopen', '{bin}/locked.so', '{bin}/locked_too.so', kinds=('locks', 'all'), options=OWN_LOCKS[:2],
                             silent=('calls', 'points')),
    'passing': program('passing', kinds=BY_CALLS),
    'freed_late': program('freed_late', '{bin}/plugin.so', silent=('locks', 'points')),
    'own_setjmp': program('own_setjmp', kinds=BY_CALLS),
    # How the hook is called: around the call, r10 is on the stack.
    **{f'nested{way}': program(f'nested{way}', silent=('points',) if 'large' in way else ())
       for way in ('', '_fentry', '_large', '_large_pic', '_nops', '_pg')},
    'nested_goto': program('nested_fentry', 'goto', balanced=False),
    'nested_values': program('nested_fentry', kinds=BY_CALLS, options=('--auto-args', *STACKS)),
    'deep': program('deep', kinds=BY_CALLS, silent=('locks', 'points')),
    # The stack of every call of the program's own functions, taken while their frames are being set up.
    **{f'stacks_{name}': program(name, *more, kinds=('calls',), options=STACKS)
       for name, *more in (('exceptions',), ('jumps',), ('coroutines',), ('signals', 'busy'), ('cancel',), ('fork_threads', '50'),
                           ('small_stack',), ('tail_calls',), ('vforks',), ('passing',), ('look_back',))},

    # The recording ends while the program continues.
    **{f'finished_{name}': program(name, *more, kinds=('calls',), options=('-T', 'main@finish'))
       for name, *more in (('exceptions',), ('fork_threads', '50'), ('die_by', 'SEGV'), ('threads',), ('coroutines',))},

    # --- Small limits, other users, other kinds of executable.
    'limit_files': program('limits', 'files', limits={'n': 20}),
    'limit_files_tight': program('limits', 'files', limits={'n': 4}, silent=EACH, says='not recorded'),
    'limit_memory': program('limits', 'memory', '20', limits={'v': 100_000}),
    'limit_size': program('limits', 'size', limits={'f': 40}, silent=EACH, says='not recorded'),
    'limit_size_none': program('limits', 'size', limits={'f': 0}, silent=EACH, says='not recorded'),
    'limit_stack': program('limits', 'none', limits={'s': 256}),
    'setuid': program('show_ids', 'argument', user='nobody', setuid=True, silent=EACH, says='setuid'),
    'setuid_child': Case(['/bin/sh', '-c', '{bin}/show_ids x; echo $?'], user='nobody', setuid=True),
    'other_user': program('show_ids', 'argument', user='nobody'),
    'static': program('show_ids_static', 'argument', silent=EACH),
    # The standalone agent is loaded into them while they are held at their start.
    **{'_'.join(('closed', name, *more)): program(f'closed_{name}', *more, kinds=('alloc', 'locks', 'all'), silent=('calls', 'points', 'locks'))
       for name, *more in (('exit_ways', 'return', '7'), ('exit_ways', 'thread', '9'), ('exit_ways', 'main-first', '9'), ('die_by', 'SEGV'),
                           ('die_by', 'TERM'), ('threads',), ('exceptions',), ('exceptions_pie',), ('signals', 'busy'), ('fork_threads', '50'),
                           ('tree', 'fork', '3'), ('tree', 'system', '3'), ('coroutines',), ('jumps',), ('cancel',), ('small_stack',))},
    'closed_functions': program('closed_exceptions', kinds=BY_CALLS, silent=('locks', 'points'), options=('-F', '*', '--module', 'torture*/*')),
    'static_child': shell('{bin}/show_ids_static x; echo $?'),
    # The same as others start them: each is held at its exec.
    **{'_'.join(('closed_child', how, name, *more)): shell(f'{start} {{bin}}/closed_{name} {" ".join(more)}; echo $?',
                                                           kinds=('alloc', 'all'))
       for how, start in (('fork', ''), ('spawn', '/usr/bin/python3 -c \'import os, sys; p = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ); '
                                                  'print(os.waitstatus_to_exitcode(os.waitpid(p, 0)[1]))\''))
       for name, *more in (('exit_ways', 'thread', '9'), ('die_by', 'SEGV'), ('exceptions',), ('signals', 'busy'), ('fork_threads', '50'),
                           ('tree', 'fork', '3'), ('cancel',))},

    # --- Built with the sanitizers of gcc and clang (sanitized.cmake), whose runtimes have their own hooks.
    **{f'sanitized_{name}': Case(['{bin}/../torture-sanitized/' + name, 'work'], silent=('calls', 'points'))
       for name in SANITIZED},
    'sanitized_child': shell('{bin}/../torture-sanitized/gcc_address system "{bin}/../torture-sanitized/clang_thread work"; echo $?'),

    # --- Real programs from Debian.
    'real_python': Case(['/usr/bin/python3', '-c',
                         'import threading, subprocess, json, sys\n'
                         't = [threading.Thread(target=lambda: json.dumps(list(range(2000)))) for _ in range(8)]\n'
                         '[x.start() for x in t]; [x.join() for x in t]\n'
                         'print(subprocess.run(["sh", "-c", "echo child; exit 3"], capture_output=True))\n'
                         'try: 1/0\nexcept ZeroDivisionError as e: print(e)\nsys.exit(5)']),
    'real_python_crash': Case(['/usr/bin/python3', '-X', 'faulthandler', '-c', 'import os; os.abort()']),
    'real_sqlite': Case(['sqlite3', ':memory:',
                         'with recursive n(i) as (select 1 union all select i+1 from n where i < 20000) '
                         'select count(*), sum(i*i % 97), group_concat(distinct i % 7) from n;']),
    'real_bash': Case(['bash', '-c', 'trap "echo trapped" USR1; kill -USR1 $BASHPID; '
                       'for i in 1 2 3; do (echo $i) & wait; done; coproc cat; echo x >&${COPROC[1]}; '
                       'read -r y <&${COPROC[0]}; echo "$y" <(echo) | cut -c1; exit 200']),
    'real_gcc': shell('cd {tmp} && printf "int main(void){return 12;}" >a.c && gcc -O2 -o a a.c && ./a; echo $?; '
                      'gcc -c -o b.o no-such-file.c; echo $?'),
    'real_xz': shell('xz -T2 --block-size=100000 -c {big} | xz -dc | cksum'),
    'real_perl': Case(['perl', '-e', 'my %h; $h{$_ % 100} .= $_ for 1..20000; print length(join "", values %h), "\n"; '
                       'if (my $p = fork) { waitpid $p, 0; print $? >> 8, "\n" } else { exit 4 }']),
    'real_strace': shell('strace -f -o {tmp}/log {bin}/exit_ways return 8; echo $?; grep -c "exited with 8" {tmp}/log'),
    'real_gdb': shell('gdb -q -batch -ex run -ex bt {bin}/show_ids 2>/dev/null | grep -a "effective"'),
    'real_timeout': Case(['timeout', '-s', 'KILL', '1', 'sleep', '20']),
}

# Those run by run.py --mode, on programs built for one kind of call tracing (modes.cmake).
IN_MODES = ('exceptions', 'exceptions_static', 'exceptions_llvm', 'throws_across', 'throws_static', 'terminate', 'coroutines',
            'coroutine_throws', 'jumps', 'own_setjmp', 'signals', 'signals_busy', 'signals_alternate', 'cancel', 'fork_threads',
            'constructors', 'handlers', 'small_stack', 'processes_some', 'tree_fork', 'tree_vfork', 'tree_spawn', 'vforks', 'threads',
            'dlopen_loop', 'end_thread', 'end_abort', 'die_SEGV', 'die_SEGV_thread', 'look_back', 'leave_amid', 'tail_calls', 'passing', 'deep', 'nested',
            'stacks_exceptions', 'stacks_jumps', 'stacks_coroutines', 'stacks_signals', 'stacks_cancel', 'stacks_fork_threads',
            'stacks_small_stack', 'stacks_tail_calls', 'stacks_vforks', 'stacks_passing', 'stacks_look_back', 'own_locks',
            'spinning_malloc', 'locked_malloc', 'asking_malloc', 'threads_jemalloc', *(f'threads_{name}' for name in ALLOCATORS))
# Cases in which some exits are not reported. In mode plain, all: with the library's functions for jumping and forking
# hooked too, some are never left. clang's hooks are not called when an exception leaves a function.
UNTOLD_IN = {'hooks_clang': ('exceptions', 'exceptions_static', 'exceptions_llvm', 'throws_across', 'throws_static',
                             'coroutine_throws', 'stacks_exceptions', 'own_locks')}


@dataclasses.dataclass
class Way:
    """One way to trace calls: programs from a folder torture-MODE of the build, and options of penna record."""
    mode: str  # empty: none, the corpus as it is
    kinds: tuple = ('all',)
    options: tuple = ()
    without: tuple = ()  # cases that are left out
    only: tuple = ()  # if any: these, of the whole corpus
    viewed: bool = False  # a client of the page looks on (onlooker.py)


# Where addresses come and go, and everything is hooked, trampolines run out: counted.
WAYS = {f'mode.{mode}': Way(mode) for mode in ('pg', 'fentry', 'fentry_nops', 'patchable', 'patchable_cet', 'patchable_clang', 'xray',
                                               'pg_clang', 'hooks_clang')} | {
    'mode.plain': Way('plain', ('calls',), ('-F*',), ('dlopen_loop',)),
    # The same, and everything else beside it, within its own limit.
    'zero': Way('plain', ('all',), ('--all-functions',), ('dlopen_loop',)),
    'libcalls': Way('plain', BY_CALLS, ('--libcalls',)),
    # Functions silenced at run time, in programs that run for some time.
    'silenced': Way('patchable', ('calls',), ('--max-overhead=1%',)),
    # Points with their stacks; and all probes of other headers beside them: those of libc and of libstdc++.
    'point_stacks': Way('plain', ('points',), ('--point-stacks',)),
    'probes': Way('plain', ('points',), ('-e*',)),
    'probe_stacks': Way('plain', ('points',), ('-e*', '--point-stacks')),
    # Arguments and results of every supported function, copied at its beginning and after its prologue.
    'values.fentry': Way('fentry', ('calls',), ('--auto-args',)),
    'values.pg': Way('pg', ('calls',), ('--auto-args',)),
    # In the page while they run: how programs end, threads, signals, libraries that come and go, a process left behind.
    'viewed': Way('', ('all',), ('--view', '--no-open'), (),
                  ('exit_7', 'die_SEGV', 'threads', 'signals', 'dlopen_loop', 'daemon'), True),
}
