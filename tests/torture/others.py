# SPDX-License-Identifier: MIT
"""Third-party programs, as one table; programs_of_others.py interprets their fields.

A script is bash's, run in an empty directory that is also its HOME. Output that varies between runs anyway is
removed by `normal`: (regular expression, replacement) pairs over stdout and stderr. To add a program: a row.
"""
import dataclasses
import pathlib

HIDE_TRAMPOLINES = pathlib.Path(__file__).resolve().parents[2] / 'examples/gdb/hide_trampolines.py'


@dataclasses.dataclass
class Program:
    packages: str           # of Debian
    script: str             # what is run and compared
    prepare: str = ''       # run before, never recorded
    functions: tuple = ()   # what -F is given: a few functions of it
    normal: tuple = ()
    files: tuple = ()       # compared too
    user: bool = False      # as nobody: it refuses root
    timeout: int = 240      # for it alone; so long recorded is a hang


LARGE_C = '''python3 - <<'PY'
with open('large.cc', 'w') as out:
    out.write('#include <map>\\n#include <string>\\n#include <vector>\\n#include <iostream>\\n')
    for i in range(100):
        out.write(f'struct T{i} {{ std::map<int, std::string> m; int f(int x) {{ m[x] = std::to_string(x * {i}); return m.size(); }} }};\\n')
    out.write('int main() { int sum = 0;\\n' + ''.join(f'sum += T{i}().f({i});\\n' for i in range(100)))
    out.write('std::cout << sum << std::endl; }\\n')
PY
'''
PROGRAMS = {}

# --- Compilers, linkers, and source management.
PROGRAMS |= {
    'gcc': Program('g++ python3', 'g++ -O1 -c large.cc -o large.o', LARGE_C, ('cpp_*', 'parse_*'), files=('large.o',)),
    'clang': Program('clang python3', 'clang++ -O0 -c large.cc -o large.o && clang++ large.o -o large && ./large', LARGE_C,
                     ('*SourceManager*', '*Lexer*'), files=('large.o', 'large')),
    'mold': Program('mold g++ python3', 'g++ -B/usr/libexec/mold -Wl,--threads large.o -o large && ./large; mold --version',
                    LARGE_C + 'g++ -O1 -g -ffile-prefix-map=$PWD=. -c large.cc -o large.o', ('*InputSection*', '*ObjectFile*'), files=('large',)),
    'git': Program('git', '''export GIT_AUTHOR_DATE='2001-01-01T00:00:00Z' GIT_COMMITTER_DATE='2001-01-01T00:00:00Z'
        git init -q -b main . && git config user.name a && git config user.email a@b
        for i in 1 2 3; do seq $((i * 1000)) >numbers; git add numbers; git commit -qm "number $i"; done
        git log --stat --format=%H; git gc -q; git fsck; git blame numbers | tail -2; git checkout -q missing''',
                   functions=('cmd_*', 'xmalloc*')),
    'rustc': Program('rustc', '''/usr/bin/rustc -C debuginfo=0 hello.rs -o hello && ./hello
        /usr/bin/rustc -O large.rs -o large && ./large; /usr/bin/rustc broken.rs; echo $?''',
                     '''echo 'fn main() { println!("hello"); }' >hello.rs; echo 'fn main() { let x: u8 = 300 }' >broken.rs
        { for i in $(seq 200); do echo "fn f$i(v: &mut Vec<String>) { v.push(format!(\\"{}\\", $i * v.len())); }"; done
          echo 'fn main() { let mut v = Vec::new();'; for i in $(seq 200); do echo "f$i(&mut v);"; done
          echo 'let t: Vec<_> = (0..4).map(|i| std::thread::spawn(move || i * 2)).collect();'
          echo 'for t in t { v.push(t.join().unwrap().to_string()); } println!("{}", v.join(" ").len()); }'; } >large.rs''',
                     ('*parse*expr*', 'LLVM*'), files=('hello',)),
    'go': Program('golang-go', '''export GOCACHE=$HOME/cache GOPATH=$HOME/go GOFLAGS=-mod=mod GO111MODULE=auto
        go version && go build -o hello hello.go && ./hello && go vet hello.go''',
                  '''cat >hello.go <<'GO'
package main
import ("fmt"; "sync"; "os"; "os/exec"; "strings"; "runtime")
func work(n int) int { if n < 2 { return n }; return work(n-1) + work(n-2) }
func main() {
	var wait sync.WaitGroup
	results := make([]int, 8)
	for i := range results { wait.Add(1); go func(i int) { defer wait.Done(); results[i] = work(20 + i); runtime.GC() }(i) }
	wait.Wait()
	out, err := exec.Command("echo", "child").Output()
	fmt.Println(results, strings.TrimSpace(string(out)), err, len(os.Args))
	defer func() { fmt.Println("recovered:", recover()) }()
	var none *int
	fmt.Println(*none)
}
GO''', ('main.*',), timeout=600),
    'cgo': Program('golang-go gcc', './hello; echo $?', '''export GOCACHE=$HOME/cache GOPATH=$HOME/go GO111MODULE=off
cat >hello.go <<'GO'
package main
/*
#include <stdlib.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <signal.h>
extern int goback(int);
static void* th(void* a) { return (void*)(long)goback((int)(long)a); }
static int run(int n) { pthread_t t; void* r; pthread_create(&t, 0, th, (void*)(long)n); pthread_join(t, &r); return (int)(long)r; }
static int cb(const void* a, const void* b) { return goback(*(int*)a) - goback(*(int*)b); }
static int sorted(int n) { int v[64]; for (int i = 0; i < n; i++) v[i] = (i * 37) % 64; qsort(v, n, sizeof *v, cb); return v[3]; }
*/
import "C"
import ("fmt"; "sync"; "os"; "os/exec"; "os/user"; "net"; "strings"; "runtime"; "runtime/debug"; "unsafe"; "time")
//export goback
func goback(n C.int) C.int { if n % 7 == 0 { runtime.GC() }; s := make([]byte, 100 + int(n)); return C.int(len(s)) - 100 }
func deep(n int) int { var a [256]int; a[n % 256] = n; if n == 0 { return int(C.sorted(20)) }; return deep(n-1) + a[n % 256] - n }
func main() {
	debug.SetGCPercent(5)
	var wait sync.WaitGroup
	results := make([]int, 16)
	for i := range results { wait.Add(1); go func(i int) { defer wait.Done()
		for k := 0; k < 20; k++ { p := C.malloc(100); C.memset(p, 1, 100); C.free(p); results[i] += int(C.run(C.int(i + k))) + deep(2000)
		s := C.CString("text"); _ = C.GoString(s); C.free(unsafe.Pointer(s)) } }(i) }
	done := make(chan bool); go func() { t := time.NewTicker(time.Millisecond); for { select { case <-t.C: runtime.Gosched(); case <-done: return } } }()
	wait.Wait(); done <- true
	out, err := exec.Command("echo", "child").Output()
	fmt.Println(results, strings.TrimSpace(string(out)), err, len(os.Args))
	u, err := user.LookupId("0"); fmt.Println(u.Username, err)
	a, err := net.LookupHost("localhost"); fmt.Println(len(a) > 0, err)
	defer func() { fmt.Println("recovered:", recover()); os.Exit(7) }()
	var none *int
	fmt.Println(*none)
}
GO
go build -o hello hello.go && ./hello >/dev/null; true''', ('main.*', 'sorted', '_cgo*', 'th', 'run', 'cb'), timeout=300),
}

# --- Interpreters and virtual machines.
PROGRAMS |= {
    'python3': Program('python3', '''python3 -c '
import threading, json, subprocess, hashlib, multiprocessing, sys
t = [threading.Thread(target=lambda: sum(range(100000))) for _ in range(8)]
[x.start() for x in t]; [x.join() for x in t]
print(len(json.dumps([{"a": i} for i in range(20000)])), subprocess.run(["echo", "child"], capture_output=True).stdout)
def square(x): return x * x
print(multiprocessing.get_context("fork").Pool(3).map(square, range(10)), hashlib.sha256(b"x" * 99999).hexdigest())
print(1 / 0)' ''', functions=('PyObject_Call*', '_PyEval_EvalFrameDefault')),
    'node': Program('nodejs', 'node work.js; node -e "process.exit(3)"; echo $?; node -e "null.x" 2>&1 | grep -c TypeError',
                    '''cat >work.js <<'JS'
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');
const crypto = require('crypto'), fs = require('fs'), zlib = require('zlib'), { execSync } = require('child_process');
if (isMainThread) {
  const results = []; let left = 4;
  for (let i = 0; i < 4; i++) new Worker(__filename, { workerData: i }).on('message', m => {
    results.push(m);
    if (--left === 0) {
      console.log(results.sort().join(' '), zlib.gzipSync(Buffer.alloc(100000)).length, execSync('echo child').toString());
      crypto.pbkdf2('a', 'b', 10000, 32, 'sha256', (e, key) => console.log(key.toString('hex')));
    }
  });
} else { let s = 0; for (let i = 0; i < 3e6; i++) s += i % (workerData + 2); parentPort.postMessage(`${workerData}:${s}`); }
JS''', functions=('*uv_run*', 'uv__*')),
    'java': Program('openjdk-17-jdk-headless', '''javac Work.java && java -Xmx200m Work; echo $?; java -Xmx200m Work throw; echo $?''',
                    '''cat >Work.java <<'JAVA'
import java.util.*;
import java.util.concurrent.*;
public class Work {
  static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
  public static void main(String[] args) throws Exception {
    if (args.length > 0) { String s = null; System.out.println(s.length()); }
    ExecutorService pool = Executors.newFixedThreadPool(4);
    List<Future<Integer>> all = new ArrayList<>();
    for (int i = 0; i < 16; i++) { final int n = 15 + i % 8; all.add(pool.submit(() -> fib(n))); }
    long sum = 0; for (Future<Integer> f : all) sum += f.get();
    pool.shutdown();
    Map<String, byte[]> m = new HashMap<>();
    for (int i = 0; i < 20000; i++) m.put("k" + i % 500, new byte[2000]);
    System.gc();
    System.out.println(sum + " " + m.size());
    Process p = new ProcessBuilder("echo", "child").inheritIO().start(); System.out.println(p.waitFor());
    System.exit(4);
  }
}
JAVA''', ('JNI_*', 'JVM_*'), timeout=400),
    'perl': Program('perl', '''perl -e 'my %h; $h{$_ % 97} .= $_ for 1..50000; print length(join "", map { $h{$_} } sort keys %h), "\\n";
        print `echo child`; $SIG{ALRM} = sub { print "alarm\\n" }; alarm 1; sleep 3; if (my $p = fork) { waitpid $p, 0; print $? >> 8, "\\n" } else { exit 5 } die "end\\n"' ''',
                    functions=('Perl_sv_*',)),
    'ruby': Program('ruby', '''ruby -e 't = 4.times.map { |i| Thread.new { (1..20000).map { |x| x.to_s * i }.size } }; p t.map(&:value), `echo child`
        f = Fiber.new { 3.times { |i| Fiber.yield i } }; p f.resume, f.resume; GC.start; p fork { exit 3 } ? Process.wait2[1].exitstatus : 0; raise "end"' ''',
                    functions=('rb_str_*',)),
    'php': Program('php-cli', '''php -r 'for ($i = 0; $i < 50000; $i++) $a[] = md5($i); sort($a); echo $a[7], "\\n", shell_exec("echo child"); preg_match("/(a+)+b/", str_repeat("a", 30)); exit(3);' ''',
                   functions=('zend_hash_*',)),
    'lua': Program('lua5.4', '''lua5.4 -e 'local t = {} for i = 1, 1e5 do t[i] = tostring(i) end print(#table.concat(t)) local c = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i) end end) print(c(), c()) print(pcall(error, "x")) error("end")' ''',
                   functions=('lua*',)),
    'tclsh': Program('tcl', '''echo 'set s 0; for {set i 0} {$i < 100000} {incr i} {incr s $i}; puts $s; puts [exec echo child]; error end' | tclsh''', functions=('Tcl_*',)),
    'guile': Program('guile-3.0', '''guile --no-auto-compile -c '(display (apply + (iota 10000))) (newline) (gc) (display (call/cc (lambda (k) (for-each k (list 1 2))))) (exit 3)' ''', functions=('scm_c*',)),
    'sbcl': Program('sbcl', '''sbcl --noinform --non-interactive --eval '(progn (defun f (n) (if (< n 2) n (+ (f (- n 1)) (f (- n 2))))) (print (f 22)) (dotimes (i 50) (make-array 200000)) (gc :full t)
        (print (mapcar #'"'"'sb-thread:join-thread (loop for i below 4 collect (let ((i i)) (sb-thread:make-thread (lambda () (dotimes (j 20) (make-array 100000)) (f (+ 15 i)))))))) (handler-case (car 1) (error () (print :caught))) (terpri) (sb-ext:exit :code 3))' ''', functions=('os_*', 'gc_*')),
    'ocaml': Program('ocaml-nox', '''cat >t.ml <<'ML'
let rec f n = if n < 2 then n else f (n - 1) + f (n - 2)
let () = Printf.printf "%d %d\\n" (f 25) (List.length (List.init 100000 string_of_int)); Gc.full_major ();
  (try raise Not_found with Not_found -> print_endline "caught"); failwith "end"
ML
        ocamlfind ocamlopt -version >/dev/null 2>&1; ocamlopt -g t.ml -o t && ./t; echo $?; ocaml t.ml''', functions=('caml_*',)),
    'ghc': Program('ghc', '''ghc -O0 -threaded T.hs -o t && ./t +RTS -N2; echo $?''',
                   '''cat >T.hs <<'HS'
import Control.Concurrent
import Control.Exception
main = do
  vs <- mapM (\\i -> do { v <- newEmptyMVar; _ <- forkIO (putMVar v $! sum [1 .. i * 10000 :: Integer]); return v }) [1 .. 8]
  rs <- mapM takeMVar vs
  print (sum rs)
  r <- try (evaluate (1 `div` (0 :: Int))) :: IO (Either ArithException Int)
  print r
  error "end"
HS''', functions=('hs_*', 'rts*'), timeout=400),
    'erlang': Program('erlang-base', '''erl -noshell -eval 'S = self(), [spawn(fun() -> S ! lists:sum(lists:seq(1, N * 1000)) end) || N <- lists:seq(1, 50)], io:format("~p~n", [lists:sum([receive X -> X end || _ <- lists:seq(1, 50)])]), io:format("~s", [os:cmd("echo child")]), halt(3).' ''', functions=('erts_*',)),
    'R': Program('r-base-core', '''Rscript -e 'x <- sapply(1:2000, function(i) sum(sqrt(1:i))); cat(sum(x), "\\n"); print(summary(lm(dist ~ speed, cars))$r.squared); tryCatch(stop("a"), error = function(e) cat("caught\\n")); stop("end")' ''', functions=('Rf_*',)),
    'octave': Program('octave', '''octave-cli --no-gui --norc --eval 'a = magic(40); disp(rank(a)); disp(sum(a(:))); try, error("x"); catch e, disp(e.message); end; exit(3)' ''', functions=('*octave_value*',)),
    'pypy3': Program('pypy3', '''pypy3 -c '
import threading, subprocess, sys, json
def f(n): return n if n < 2 else f(n - 1) + f(n - 2)
t = [threading.Thread(target=lambda: f(20)) for _ in range(4)]
[x.start() for x in t]; [x.join() for x in t]
print(f(27), len(json.dumps(list(range(1000)))), subprocess.run(["echo", "child"], capture_output=True).stdout)
def deep(n): return deep(n + 1)
try: deep(0)
except RecursionError: print("deep")
sys.exit(3)' ''', functions=('*',)),
    'luajit': Program('luajit', '''luajit -e 'local s = 0 for i = 1, 1e7 do s = s + i % 7 end print(s) local ffi = require("ffi") ffi.cdef[[int printf(const char*, ...); void qsort(void*, size_t, size_t, int (*)(const int*, const int*));]] local a = ffi.new("int[100]") for i = 0, 99 do a[i] = (i * 37) % 100 end ffi.C.qsort(a, 100, 4, function(x, y) return x[0] - y[0] end) print(a[5], a[99]) local c = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(pcall(error, i)) end end) print(c(), c()) local function deep(n) return 1 + deep(n + 1) end print(pcall(deep, 1)) error("end")' ''', functions=('*',)),
    'mono': Program('mono-mcs mono-runtime', 'mono Work.exe; echo $?; mono Work.exe throw 2>&1 | head -3', '''cat >Work.cs <<'CS'
using System; using System.Threading; using System.Collections.Generic; using System.Diagnostics;
class Work {
  static int Fib(int n) { return n < 2 ? n : Fib(n - 1) + Fib(n - 2); }
  static int Deep(int n) { return Deep(n + 1) + 1; }
  static void Main(string[] args) {
    if (args.Length > 0) { string s = null; Console.WriteLine(s.Length); }
    var threads = new List<Thread>(); int sum = 0;
    for (int i = 0; i < 6; i++) { int n = 15 + i; var t = new Thread(() => { Interlocked.Add(ref sum, Fib(n)); try { object o = null; o.ToString(); } catch (NullReferenceException) { Interlocked.Increment(ref sum); } }); t.Start(); threads.Add(t); }
    foreach (var t in threads) t.Join();
    var m = new Dictionary<string, byte[]>();
    for (int i = 0; i < 20000; i++) m["k" + i % 500] = new byte[2000];
    GC.Collect();
    Console.WriteLine(sum + " " + m.Count);
    try { throw new ArgumentException("caught"); } catch (Exception e) { Console.WriteLine(e.Message + e.StackTrace.Length); }
    var p = Process.Start(new ProcessStartInfo("echo", "child") { UseShellExecute = false }); p.WaitForExit(); Console.WriteLine(p.ExitCode);
    Environment.Exit(4);
  }
}
CS
mcs Work.cs''', ('mono_*',)),
    'gevent': Program('python3-gevent python3-numpy', '''/usr/bin/python3 -c '
import gevent, gevent.pool, numpy, ctypes, asyncio, faulthandler, signal, concurrent.futures, multiprocessing, sys
def work(i):
    for k in range(20): gevent.sleep(0)
    return i * i
p = gevent.pool.Pool(10)
print(sum(p.map(work, range(100))))
a = numpy.arange(90000.).reshape(300, 300); print(float((a @ a.T).trace()), numpy.linalg.eigvalsh(a + a.T)[-1].round(2))
libc = ctypes.CDLL(None)
C = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
v = (ctypes.c_int * 50)(*[(i * 37) % 50 for i in range(50)])
libc.qsort(v, 50, 4, C(lambda x, y: x[0] - y[0])); print(list(v)[:5])
async def co(i): await asyncio.sleep(0.001); return i
async def main(): return sum(await asyncio.gather(*[co(i) for i in range(50)]))
print(asyncio.run(main()))
with concurrent.futures.ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as e: print(list(e.map(abs, range(-3, 3))))
def deep(n): return deep(n + 1)
try: deep(0)
except RecursionError: print("deep")
sys.exit(3)
' ''', functions=('*',)),
}

# --- Servers, each with a client.
PROGRAMS |= {
    'sqlite3': Program('sqlite3', '''sqlite3 t.db "create table t (a integer primary key, b text); with recursive c(x) as (select 1 union all select x + 1 from c where x < 20000)
        insert into t select x, hex(x * x) from c; create index i on t (b); select count(*), sum(length(b)) from t; select * from nowhere;" ''', functions=('sqlite3_*',), files=('t.db',)),
    'redis': Program('redis-server redis-tools', '''redis-server --port 0 --unixsocket $PWD/s --daemonize no --save '' >log 2>&1 & server=$!
        for i in $(seq 200); do redis-cli -s s ping >/dev/null 2>&1 && break; sleep 0.1; done
        for i in $(seq 50); do redis-cli -s s set k$i $i; done | sort | uniq -c; redis-cli -s s eval 'return #redis.call("keys", "*")' 0
        redis-cli -s s bgsave; redis-cli -s s shutdown nosave; wait $server; echo $?''', functions=('lookupKey*', 'dictFind')),
    'nginx': Program('nginx curl', '''mkdir www logs && seq 10000 >www/f
        printf 'daemon off; worker_processes 2; pid %s/pid; error_log logs/e; events {} http { access_log logs/a; client_body_temp_path b; proxy_temp_path p; fastcgi_temp_path f; uwsgi_temp_path u; scgi_temp_path s; server { listen unix:%s/web; location / { root %s/www; gzip on; gzip_types *; } location /m { stub_status; } } }' $PWD $PWD $PWD >conf
        /usr/sbin/nginx -p $PWD -c $PWD/conf -e logs/e & server=$!
        for i in $(seq 200); do curl -s --unix-socket web http://a/f >/dev/null && break; sleep 0.1; done
        for i in 1 2 3; do curl -s --compressed --unix-socket web http://a/f | sha256sum; curl -s -o /dev/null -w '%{http_code}\\n' --unix-socket web http://a/none; done
        kill -HUP $server; sleep 1; curl -s --unix-socket web http://a/f | wc -c; kill -QUIT $server; wait $server; echo $?; grep -c . logs/a''', functions=('ngx_http_*',), user=True),
    'postgres': Program('postgresql', '''B=$(ls -d /usr/lib/postgresql/*/bin | tail -1); export LC_ALL=C
        $B/initdb -D d -A trust -U me >initdb.log 2>&1; echo initdb $?
        $B/postgres -D d -k $PWD -c listen_addresses= >log 2>&1 & server=$!
        for i in $(seq 300); do $B/psql -h $PWD -U me -d postgres -c 'select 1' >/dev/null 2>&1 && break; sleep 0.1; done
        $B/psql -h $PWD -U me -d postgres -c 'create table t as select x, md5(x::text) m from generate_series(1, 30000) x' -c 'select count(*), max(m) from t where x % 3 = 0' -c 'select a.x from t a join t b on a.m = b.m order by 1 limit 3' -c 'select 1 / 0'
        for i in 1 2 3 4; do $B/psql -h $PWD -U me -d postgres -At -c "select sum(x) from t where x < $i * 100" >out.$i & clients="$clients $!"; done; wait $clients; cat out.*
        kill -INT $server; wait $server; echo $?; grep -E 'PANIC|FATAL|crash' log | grep -v 'the database system is starting up'; true''', functions=('Exec*', 'palloc'), user=True, timeout=400),
    'mariadb': Program('mariadb-server mariadb-client', '''mariadb-install-db --datadir=$PWD/d --auth-root-authentication-method=normal --skip-test-db >install.log 2>&1; echo install $?
        /usr/sbin/mariadbd --no-defaults --datadir=$PWD/d --socket=$PWD/s --skip-networking --pid-file=$PWD/pid >log 2>&1 & server=$!
        for i in $(seq 600); do mariadb --no-defaults -S s -u root -e 'select 1' >/dev/null 2>&1 && break; sleep 0.1; done
        mariadb --no-defaults -S s -u root -e 'create database b; use b; create table t engine=innodb as select seq x, md5(seq) m from seq_1_to_20000; select count(*), max(m) from b.t where x % 3 = 0; select nowhere'
        for i in 1 2 3 4; do mariadb --no-defaults -S s -u root -e "select sum(x) from b.t where x < $i * 100" >out.$i & clients="$clients $!"; done; wait $clients; cat out.*
        mariadb-admin --no-defaults -S s -u root shutdown; wait $server; echo $?; grep -ciE 'got signal|assert' log''', functions=('*mysql_parse*', 'my_*'), user=True, timeout=400),
}

# --- Large GUI programs, headless.
PROGRAMS |= {
    'soffice': Program('libreoffice-writer-nogui', 'soffice --headless --convert-to pdf f.txt; echo $?; ls *.pdf', 'seq 500 >f.txt', ('rtl_*', 'osl_*')),
    'chromium': Program('chromium', '''chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync \
        --user-data-dir=$PWD/profile --dump-dom file://$PWD/p.html 2>errors; echo $?; chromium --version''',
                        '''echo '<p id=p>0</p><script>let s=0;for(let i=0;i<1e6;i++)s+=i;p.textContent=s</script>' >p.html''', ('malloc', 'g_*'), timeout=300,
                        normal=((r'chromium: 9: \[: \d+', 'chromium: 9: [: N'),)),  # its wrapper compares how much memory is free
    'chromium-sandboxed': Program('chromium', '''chromium --headless --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync \
        --user-data-dir=$PWD/profile --dump-dom file://$PWD/p.html 2>errors; echo $?; chromium --version; grep -c FATAL errors''',
        '''echo '<p id=p>0</p><script>let s=0;for(let i=0;i<1e6;i++)s+=i;p.textContent=s</script>' >p.html''', ('malloc', 'g_*'), user=True, timeout=300,
                        normal=((r'chromium: 9: \[: \d+', 'chromium: 9: [: N'),)),
    'firefox': Program('firefox-esr', '''firefox-esr --headless --no-remote --profile $PWD/profile --screenshot $PWD/shot.png file://$PWD/p.html >log 2>&1; echo $?; test -s shot.png && echo shot; firefox-esr --version''',
                       '''mkdir profile; echo '<p id=p>0</p><script>let s=0;for(let i=0;i<1e6;i++)s+=i;p.textContent=s</script>' >p.html''', ('NS_*', 'JS_*'), timeout=300),
    'emacs': Program('emacs-nox', '''emacs -Q --batch --eval '(progn (dotimes (i 20000) (insert (format "%d " i))) (message "%d %s" (buffer-size) (shell-command-to-string "echo child")) (garbage-collect) (kill-emacs 3))' ''', functions=('F*',)),
    'vim': Program('vim', '''seq 5000 >f; vim -N -u NONE -i NONE -es -c '%s/1/one/g' -c 'w! g' -c 'r !echo child' -c 'cq 3' f; echo $?; sha256sum g''', functions=('do_*',)),
    'gdb': Program('gdb g++', f'''gdb -nx -q -batch -ex 'break f' -ex run -ex 'source {HIDE_TRAMPOLINES}' -ex bt -ex 'print n' -ex 'break 4' -ex continue -ex 'print m' -ex 'python print(1 + 1)' ./t''', '''
        printf 'int f(int n) { return n + 1; }\\nint main() {\\n  int m = f(41);\\n  return m;\\n}\\n' >t.c; gcc -g t.c -o t''',
                   ('*breakpoint*',), normal=((r'process [0-9]+', 'process N'), (r'Thread 0x\w+ \(LWP \d+\)', 'Thread'), ('(?m)^#[0-9]+', '#N'))),
    'convert': Program('imagemagick', '''convert -size 300x200 gradient:red-blue -blur 0x3 -resize 50% -rotate 20 a.png && identify -format '%wx%h %#\\n' a.png; convert none.png b.png; echo $?''', functions=('*Pixel*',)),
    'ffmpeg': Program('ffmpeg', '''ffmpeg -v error -f lavfi -i testsrc=d=1:s=160x120:r=10 -threads 4 -c:v mpeg4 -flags +bitexact -fflags +bitexact a.avi; echo $?; ffprobe -v error -count_frames -show_entries stream=nb_read_frames -of csv a.avi; ffmpeg -v error -i a.avi -f md5 -''', functions=('av_*',)),
}

# --- Small tools.
PROGRAMS |= {
    'curl': Program('curl', 'curl -s file:///etc/hostname >/dev/null; echo $?; curl -sS http://127.0.0.1:9/; echo $?; curl -V | head -1', functions=('Curl_*', 'curl_*')),
    'openssl': Program('openssl', '''openssl genrsa 1024 2>/dev/null | openssl rsa -noout -check; seq 1000 | openssl enc -aes-256-cbc -k a -pbkdf2 -nosalt | sha256sum; openssl speed -seconds 1 sha256 2>/dev/null | wc -l; openssl nothing 2>&1 | wc -l''', functions=('EVP_*',)),
    'ssh-keygen': Program('openssh-client', '''ssh-keygen -q -t ed25519 -N '' -f k && ssh-keygen -y -f k | cut -c1-20; eval $(ssh-agent) >/dev/null; ssh-add -q k; ssh-add -l | wc -l; ssh-agent -k >/dev/null; ssh -o BatchMode=yes -p 9 127.0.0.1 2>&1''', functions=('ssh*',)),
    'tmux': Program('tmux', '''tmux -L t -f /dev/null new-session -d -x 80 -y 24 'echo inside; sleep 100' && sleep 1; tmux -L t capture-pane -p | head -1; tmux -L t kill-server; echo $?''', functions=('cmd_*',)),
    'busybox': Program('busybox-static', '''busybox sh -c 'seq 1000 | busybox sort -rn | busybox head -3; busybox echo a | busybox md5sum; exit 3' '''),
    'qemu-user': Program('qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross', '''qemu-aarch64 ./t; echo $?''', '''printf '#include <stdio.h>\\n#include <pthread.h>\\nvoid* f(void* a) { return a; } int main() { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); puts("there"); return 3; }' >t.c; aarch64-linux-gnu-gcc -static t.c -o t -pthread''', functions=('cpu_*',)),
    'apt': Program('apt', '''apt-cache policy bash | head -2; apt-cache search --names-only '^bash$'; apt-config dump | wc -l; apt-get -s install bash 2>/dev/null | tail -1''', functions=('*pkgCache*',)),
    'dpkg': Program('dpkg-dev', '''dpkg -l bash | tail -1; mkdir -p p/DEBIAN; printf 'Package: a\\nVersion: 1\\nArchitecture: all\\nMaintainer: a <a@b>\\nDescription: a\\n' >p/DEBIAN/control; dpkg-deb -b p a.deb; dpkg-deb -c a.deb | wc -l; dpkg -I a.deb | grep Package; dpkg -V bash''', functions=('*',)),
    'man': Program('man-db', '''printf '.TH A 1\\n.SH NAME\\na - b\\n' >a.1; man -P cat ./a.1 | head -5; man nothing-of-that-name; echo $?''', functions=('man*',)),
    'systemd': Program('systemd', '''systemd-escape 'a b/c'; systemd-path user | wc -l; systemd-id128 --app-specific=aa5ec5a5f07d4fd8ac4d0a5a4d6c1f2a machine-id | wc -c; systemd-tmpfiles --version | head -1; systemd-analyze calendar 'Mon 2030-01-01' | head -2''', functions=('*',)),
    'make': Program('make', '''printf 'all: a b c\\n%%: ; @sh -c "echo $@"; sleep 0.1\\nb: a\\nc: b\\n\\tfalse\\n' >Makefile; make -j4; echo $?''', functions=('*',)),
    'tar': Program('tar xz-utils zstd bzip2', '''seq 50000 >f; for z in -z -J -j --zstd; do tar --mtime=@0 --owner=0 --group=0 $z -cf t f && tar $z -xOf t | sha256sum; done; tar xf nothing; echo $?''', functions=('*',)),
    'bash': Program('bash', '''bash -c 'for i in $(seq 200); do (exit $((i % 3))) || : ; done; coproc cat; echo a >&${COPROC[1]}; read x <&${COPROC[0]}; echo $x; trap "echo term" TERM; kill $$; diff <(seq 3) <(seq 4); exit 3' ''', functions=('*',)),
    'strace': Program('strace', '''strace -f -o log sh -c 'echo a | cat'; echo $?; grep -c exited log''', functions=('*',)),
    'valgrind': Program('valgrind', '''valgrind -q ls -d .; echo $?''', functions=('*',)),
}

# --- Runtimes that collect garbage, unwind, switch stacks or stop each other's threads in their own way.
PROGRAMS |= {
    'D': Program('ldc', './t; echo $?', '''cat >t.d <<'D'
import std.stdio, std.parallelism, std.range, std.algorithm, core.thread, core.memory;
class Node { Node next; int value; this(Node n, int v) { next = n; value = v; } }
int deep(int n) { auto a = new int[](n + 1); a[n] = n; return n == 0 ? 0 : deep(n - 1) + a[n]; }
void main() {
  Node all;
  foreach (i; 0 .. 20000) { all = new Node(i % 100 ? all : null, i); if (i % 4000 == 0) GC.collect(); }
  auto threads = iota(4).map!(i => new Thread({ foreach (j; 0 .. 200) { auto s = new ubyte[](1000); if (j % 50 == 0) GC.collect(); } })).array;
  foreach (t; threads) t.start(); foreach (t; threads) t.join();
  auto f = new Fiber({ foreach (i; 0 .. 3) { Fiber.yield(); } }); int turns; while (f.state != Fiber.State.TERM) { f.call(); turns++; }
  writeln(taskPool.reduce!"a + b"(iota(100000L)), " ", deep(200), " ", turns, " ", all.value);
  try throw new Exception("caught"); catch (Exception e) writeln(e.msg);
  throw new Exception("end");
}
D
ldc2 -g t.d''', ('*deep*',), normal=((r'(?s)\\n-{16}.*', ''), (r'\\n-+\\n(.*\\n)*', ''))),
    'ecl': Program('ecl', '''ecl --norc --shell t.lsp; echo $?''', '''cat >t.lsp <<'L'
(defun f (n) (if (< n 2) n (+ (f (- n 1)) (f (- n 2))))) (print (f 18)) (dotimes (i 200) (make-array 20000)) (ext:gc t)
(print (handler-case (car 1) (error () :caught))) (print (catch 'x (mapc (lambda (i) (when (= i 3) (throw 'x i))) '(1 2 3 4)))) (terpri) (ext:quit 4)
L''', ('ecl_*', 'GC_*')),
    'prolog': Program('swi-prolog-nox', '''swipl -q -g "numlist(1, 20000, L), sum_list(L, S), print(S), nl, findall(X, (between(1, 5, I), thread_create(true, T), thread_join(T, X)), Xs), print(Xs), nl, catch(throw(a), E, (print(E), nl)), garbage_collect, halt(3)"; echo $?''', functions=('PL_*',)),
    'gforth': Program('gforth', '''gforth -e ': f dup 2 < if exit then dup 1- recurse swap 2 - recurse + ; 22 f . cr 1 0 / . bye'; echo $?; echo >&2'''),
    'gp': Program('pari-gp', '''echo 'print(factor(2^101-1)); iferr(1/0, E, print("caught")); print(polroots(x^5-x-1)[1] != 0); quit(3)' | gp -q; echo $?''', functions=('*',)),
    'fortran': Program('gfortran', './t; echo $?', '''cat >t.f90 <<'F'
program t
  integer :: i, s(1000)
  real(8) :: a(60, 60), b(60, 60)
  !$omp parallel do
  do i = 1, 1000; s(i) = work(i); end do
  call random_seed(put=[(1, i = 1, 33)]); call random_number(a); b = matmul(a, transpose(a))
  write (*, '(i0, l2)') sum(s), b(3, 4) == b(4, 3)
  write (*, *) nint(sum(a) / 3600 * 2)
  stop 5
contains
  recursive integer function work(n) result(r)
    integer, intent(in) :: n
    r = n; if (n > 500) r = work(n - 500)
  end function
end program
F
gfortran -g -O1 -fopenmp t.f90 -o t''', ('*',)),
    'boost': Program('g++ libboost-context-dev libboost-coroutine-dev libboost-system-dev libboost-fiber-dev', './t; echo $?', '''cat >t.cc <<'C'
#include <boost/coroutine2/all.hpp>
#include <boost/fiber/all.hpp>
#include <iostream>
using Coroutine = boost::coroutines2::coroutine<int>;
int main() {
  Coroutine::pull_type source([](Coroutine::push_type& sink) { for (int i = 0; i < 100; ++i) { try { if (i % 10 == 3) throw i; sink(i); } catch (int n) { sink(-n); } } });
  int sum = 0; for (int i : source) sum += i;
  { Coroutine::pull_type left([](Coroutine::push_type& sink) { struct Says { ~Says() { std::cout << "unwound\\n"; } } says; for (;;) sink(1); }); left(); }
  std::vector<boost::fibers::fiber> fibers; boost::fibers::mutex mutex;
  for (int i = 0; i < 20; ++i) fibers.emplace_back([&, i] { for (int k = 0; k < 50; ++k) { std::lock_guard<boost::fibers::mutex> lock(mutex); sum += i; boost::this_fiber::yield(); } });
  for (auto& fiber : fibers) fiber.join();
  std::cout << sum << std::endl; throw std::runtime_error("end");
}
C
g++ -g -O1 t.cc -o t -lboost_context -lboost_fiber -pthread''', ('main', '*fiber*'), normal=((r'line 1: +\d+ Aborted', 'line 1: N Aborted'),)),
    'tbb': Program('g++ libtbb-dev', './t', '''cat >t.cc <<'C'
#include <tbb/tbb.h>
#include <cstdio>
int main() {
  long sum = tbb::parallel_reduce(tbb::blocked_range<long>(0, 1000000), 0L, [](auto const& r, long s) { for (long i = r.begin(); i != r.end(); ++i) s += i % 7; return s; }, std::plus<long>());
  tbb::concurrent_hash_map<int, int> map; tbb::parallel_for(0, 10000, [&](int i) { tbb::concurrent_hash_map<int, int>::accessor a; map.insert(a, i % 97); a->second += i; });
  long all = 0; for (auto& e : map) all += e.second;
  try { tbb::parallel_for(0, 100, [](int i) { if (i == 50) throw 50; }); } catch (int n) { std::printf("%d ", n); }
  std::printf("%ld %ld\\n", sum, all);
}
C
g++ -std=c++17 -g -O1 t.cc -o t -ltbb''', ('*tbb*',)),
}

# --- Tools that run other programs, or are linked, signalled and daemonized in their own way.
PROGRAMS |= {
    'git-clone': Program('git', '''export GIT_AUTHOR_DATE='2001-01-01T00:00:00Z' GIT_COMMITTER_DATE='2001-01-01T00:00:00Z' GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_0=user.name GIT_CONFIG_VALUE_0=a GIT_CONFIG_KEY_1=user.email GIT_CONFIG_VALUE_1=a@b
        git clone -q a b && cd b && git switch -qc side HEAD~5 && echo more >>f3 && git commit -qam side && git rebase -q main; git log --oneline --graph --all | wc -l
        git grep -c --threads 4 7 | wc -l; git archive HEAD | sha256sum; git bundle create -q ../x main; git clone -q --depth 2 file://$PWD/../a ../c; git -C ../c log --oneline | wc -l
        git repack -qadf --threads=2; git stash list; git bisect start HEAD HEAD~10 >/dev/null; git bisect run sh -c 'test ! -e f18' | tail -1; git push -q origin side; git -C ../a branch | wc -l; git clone -q nowhere d''',
        '''git init -q -b main a; cd a; git config user.name a; git config user.email a@b
        export GIT_AUTHOR_DATE='2001-01-01T00:00:00Z' GIT_COMMITTER_DATE='2001-01-01T00:00:00Z'; for i in $(seq 20); do seq $((i * 100)) >f$i; git add .; git commit -qm $i; done''', ('cmd_*',)),
    'linkers': Program('gcc lld binutils clang', '''for l in bfd gold lld; do gcc -fuse-ld=$l t.c -o t.$l 2>/dev/null || clang -fuse-ld=$l t.c -o t.$l; ./t.$l; sha256sum t.$l; done; nm t.bfd | wc -l; strip t.bfd; objdump -d t.lld | wc -l; readelf -a t.gold | wc -l; ar rc a.a t.c; gcc -fuse-ld=lld u.c''',
                       '''echo '#include <stdio.h>
int main(void) { puts("linked"); }' >t.c; echo 'int f(void); int main(void) { return f(); }' >u.c''', ('main',), normal=((r'/tmp/cc\w+', 'TEMPORARY'), (r'/tmp/u-\w+', 'TEMPORARY'))),
    'sshd': Program('openssh-server openssh-client', '''mkdir -p /run/sshd; /usr/sbin/sshd -t -f conf; echo $?; /usr/sbin/sshd -T -f conf | wc -l; /usr/sbin/sshd -D -f conf -E log & server=$!
        for i in $(seq 100); do ssh -F client there true 2>/dev/null && break; sleep 0.1; done; ssh -F client there 'echo inside; exit 7'; echo $?; seq 10000 | ssh -F client there sha256sum; scp -q -F client there:/etc/debian_version v; cat v; kill $server; wait $server; echo $?''',
        '''ssh-keygen -q -t ed25519 -N '' -f host; ssh-keygen -q -t ed25519 -N '' -f k; cp k.pub keys
        printf 'Port 22988\\nListenAddress 127.0.0.1\\nHostKey %s/host\\nAuthorizedKeysFile %s/keys\\nStrictModes no\\nUsePAM no\\nPidFile none\\nSubsystem sftp internal-sftp\\nPermitRootLogin yes\\n' $PWD $PWD >conf
        printf 'Host there\\nHostName 127.0.0.1\\nPort 22988\\nIdentityFile %s/k\\nStrictHostKeyChecking no\\nUserKnownHostsFile /dev/null\\nLogLevel ERROR\\nUser %s\\n' $PWD $(id -un) >client''', ('ssh*',)),
    'gpg': Program('gnupg', '''export GNUPGHOME=$PWD/g; mkdir -m 700 g; gpg --batch -q --passphrase '' --quick-gen-key a@b ed25519 2>/dev/null; echo $?; echo text | gpg --batch -q -s -r a@b | gpg --batch -q -d 2>/dev/null; echo text | gpg --batch -q -c --passphrase p --pinentry-mode loopback | gpg --batch -q -d --passphrase p --pinentry-mode loopback; gpg -k | wc -l; gpgconf --kill all; gpg --verify nothing; echo $?''', functions=('gcry_*',)),
    'archivers': Program('zip unzip p7zip-full zstd lz4 pigz', '''seq 30000 >f; touch -d @0 f; zip -qX f.zip f; unzip -p f.zip | sha256sum; 7z a -bd -mmt=4 f.7z f >/dev/null; 7z x -so f.7z | sha256sum; zstd -q -T3 -19 f -o f.zst; zstd -dc f.zst | sha256sum; pigz -p 4 -c f | gzip -dc | sha256sum; unzip nothing; echo $?''', functions=('*',)),
    'shells': Program('zsh ksh93u+m fish dash', '''for s in 'zsh -f' ksh dash; do $s -c 'i=0; while [ $i -lt 50 ]; do (exit 1) || i=$((i + 1)); done; echo $i; x=$(echo a | tr a b); echo $x; trap "echo term" TERM; kill $$; (sleep 0.05; exit 4) & wait $!; exit 3'; echo $?; done; fish --no-config -c 'for i in (seq 20); echo $i | read -l x; end; echo done; false; or exit 5'; echo $?''', functions=('*',)),
    'terminals': Program('screen expect tmux', '''expect -c 'log_user 0; spawn sh; expect "# "; send "echo in\\\\side\\r"; expect { inside { puts seen } timeout { puts late } }; send "exit 3\\r"; expect eof; puts [lindex [wait] 3]'; SCREENDIR=$PWD/s; export SCREENDIR; mkdir -m 700 s; screen -dmS t sh -c 'echo a >done; sleep 60'; for i in $(seq 50); do [ -e done ] && break; sleep 0.1; done; cat done; screen -S t -X quit; echo $?; script -qc 'tty >/dev/null && echo tty' /dev/null''', functions=('*',)),
    'stress': Program('stress-ng', '''stress-ng --seed 1 -q --timeout 20 --futex 1 --futex-ops 2000 --malloc 1 --malloc-ops 2000 --mmap 1 --mmap-ops 20 --fork 1 --fork-ops 100 --vfork 1 --vfork-ops 100 --clone 1 --clone-ops 50 --pthread 1 --pthread-ops 200 --sigsegv 1 --sigsegv-ops 200 --sigfpe 1 --sigfpe-ops 200 --sigaltstack 1 --sigaltstack-ops 100; echo $?
        stress-ng --seed 1 -q --timeout 20 --longjmp 1 --longjmp-ops 2000 --dynlib 1 --dynlib-ops 200 --exec 1 --exec-ops 100 --brk 1 --brk-ops 2000 --switch 1 --switch-ops 1000 --context 1 --context-ops 1000 --seccomp 1 --seccomp-ops 50 --mutex 1 --mutex-ops 500 --sem 1 --sem-ops 1000 --itimer 1 --itimer-ops 500 --daemon 1 --daemon-ops 50; echo $?
        stress-ng --seed 1 -q --timeout 20 --stack 1 --stack-ops 2 --userfaultfd 1 --userfaultfd-ops 20 --close 1 --close-ops 50 --mcontend 1 --mcontend-ops 200 --rseq 1 --rseq-ops 10000 --membarrier 1 --membarrier-ops 200 --robust-list 1 --zombie 1 --zombie-ops 100 --kill 1 --kill-ops 2000 2>/dev/null; echo $?''', functions=('stress_*',), timeout=300),
    'sandbox': Program('bubblewrap', '''bwrap --ro-bind / / --dev /dev --proc /proc --unshare-pid --tmpfs /tmp sh -c 'echo $$ | wc -c; ls /tmp | wc -l; exit 5'; echo $?; unshare -Ur sh -c 'id -u; exit 6'; echo $?; unshare -pf --mount-proc sh -c 'ls /proc >pids; grep -c ^[0-9] pids'; setpriv --reuid 65534 --clear-groups sh -c 'id -u'; chroot / sh -c 'echo root'; nice -n 5 sh -c nice; setsid -w sh -c 'exit 4'; echo $?; flock f sh -c 'echo held'; taskset 1 nproc; prlimit --nofile=30 sh -c 'ulimit -n'; env -i /bin/sh -c env | wc -l'''),
    'su': Program('sudo passwd', '''[ $(id -u) = 0 ] || exit 0; su -s /bin/sh nobody -c 'id -un; exit 3'; echo $?; sudo -n -u nobody sh -c 'id -un; exit 4'; echo $?; su - nobody -s /bin/sh -c 'pwd' 2>/dev/null; runuser -u nobody -- id -un; sudo -n -l -U nobody | wc -l'''),
}
