# SPDX-License-Identifier: MIT
# Sourced first by every script of tests/e2e. Starts in a new empty directory, removed at the end.
#   penna ARGS...             the binary under test ($PENNA)
#   build_c NAME [OPT...]     compiles NAME.c or .cc, here or in tests/programs or examples, to ./NAME, with the options
#   run CMD...                runs it and sets $out, $err and $status; never ends the script
#   expect_eq / expect_contains / expect_missing / expect_match / fail     end the script with a sentence
#   as_root CMD...            with sudo unless already root
#   doc_block PAGE WORD       the code block of docs/PAGE that contains WORD
#   copy_of_pages             ./copy: README.md, docs and examples without the rest of the tree; an installed Penna in PATH
#   start FILE CMD...         in the background until the script ends; sets $pid. FILE, empty at first, gets its output
#   until_true WORD CMD...    repeats CMD until it succeeds; after two minutes, fails: never WORD
#   await FILE REGEX          waits in that way until a line of the file matches
#   await_served PID          until a recorder serves penna ctl for it
#   await_progress FILE       until FILE has another last line than now
#   attach PID OPTION...      it.penna: 300 ms of a process that writes lines.txt, which goes on unharmed
#   attach_to_each PROGRAM TIMES OPTIONS KIND...     starts `PROGRAM KIND` for each kind, which prints a line after each round and ends well
#                             when there is a file "enough"; attaches to each that often for 10 ms, and expects that nothing was harmed
#   need PACKAGE...           installs missing Debian packages, or fails
#   npm_packages NAME@VERSION...   the same for npm: installed in $modules, cached for the next time
#   sql_engine                installs what penna sql needs
set -euo pipefail
export LC_ALL=C NO_COLOR=1
unset LD_PRELOAD PENNA_OPTIONS 2>/dev/null || true
export XDG_CONFIG_HOME=/nonexistent # defaults of whoever runs the tests
: "${PENNA_SOURCE:=$(readlink -f "$(dirname "${BASH_SOURCE[0]}")/../..")}"
: "${PENNA:=$PENNA_SOURCE/build/release/bin/penna}"
[ -x "$PENNA" ] || { echo "FAIL: no penna at $PENNA; run ./run build"; exit 1; }

work=$(mktemp -d "${TMPDIR:-/tmp}/penna-e2e.XXXXXX")
started=()
# All processes must be gone, not only killed, before their directory is removed; also those that a script has started
# without start(), and what they have started.
trap 'status=$?; kill -9 "$watcher" "${started[@]}" $(descendants $$) 2>/dev/null || true; wait 2>/dev/null || true
      cat "$work/stuck.txt" >&2 2>/dev/null || true; cd /; rm -rf "$work"
      exit $status' EXIT
cd "$work"

descendants() {
  local child
  for child in $(cat "/proc/$1/task/"*/children 2>/dev/null); do echo "$child" && descendants "$child"; done
}

# Before the whole test is killed: what each process waits for, and then its end.
end_what_is_stuck() {
  local self=$BASHPID parent pids pid
  set +e
  mkfifo never && exec 9<>never || return
  for _ in {1..60}; do
    read -rt 10 -u 9 # no process of its own, unlike sleep
    read -r _ _ _ parent _ <"/proc/$self/stat"
    [ "$parent" = $$ ] || return # the test has ended
  done
  pids=$(descendants $$ | grep -vx "$self")
  for pid in $pids; do
    [ -d "/proc/$pid" ] || continue
    echo "stuck: $pid $(tr '\0' ' ' <"/proc/$pid/cmdline")"
    grep -E '^(Name|State|TracerPid):' "/proc/$pid/task/"*/status
    head -n 50 "/proc/$pid/task/"*/{syscall,stack}
  done >stuck.txt 2>&1
  # shellcheck disable=SC2086  # words
  kill -9 $pids
}
end_what_is_stuck </dev/null >/dev/null 2>&1 &
watcher=$!
disown # its end is not worth a word

fail() { echo "FAIL: $*" >&2; [ -z "${out:-}${err:-}" ] || printf -- '--- out\n%s\n--- err\n%s\n' "${out:-}" "${err:-}" >&2; exit 1; }
penna() { "$PENNA" "$@"; }

run() {
  status=0
  "$@" >out.txt 2>err.txt </dev/null || status=$?
  out=$(<out.txt) err=$(<err.txt)
}

# expect_eq WANT GOT [WHAT]
expect_eq() { [ "$1" = "$2" ] || fail "${3:-value}: expected '$1', got '$2'"; }
# expect_contains TEXT PART; PART is literal.
expect_contains() { [[ $1 == *"$2"* ]] || fail "expected '$2' in: $1"; }
expect_missing() { [[ $1 != *"$2"* ]] || fail "did not expect '$2' in: $1"; }
# expect_match TEXT REGEX (extended, any line)
expect_match() { grep -Eq -- "$2" <<<"$1" || fail "expected a line that matches '$2' in: $1"; }

# normalize < TEXT: replaces what differs from run to run with words.
normalize() {
  sed -E 's/0x[0-9a-f]+/ADDR/g; s/\b(pid|tid|PID|TID)[ =:]+[0-9]+/\1 N/g; s/[0-9]+(\.[0-9]+)? ?(ns|us|µs|ms|s)\b/TIME/g;
          s/\.[0-9]+\.penna/.PID.penna/g; s/[ \t]+$//'
}

# build_c NAME [OPTIONS...]: NAME.c or NAME.cc -> ./NAME, as a user would: -O1 -g unless overridden.
build_c() {
  local name=$1 source compiler=gcc
  shift
  for source in {,"$PENNA_SOURCE"/{tests/programs,examples}/}"$name".{c,cc}; do
    [ ! -e "$source" ] || break
  done
  case $source in *.cc) compiler='g++ -std=c++20' ;; esac
  # shellcheck disable=SC2086
  $compiler -O1 -g -D_GNU_SOURCE -I"$PENNA_SOURCE/include" "$source" -o "$name" "$@" -pthread ||
    fail "$source does not compile"
}

# A new file, made here rather than in the background, which may be late: await must match neither the old content nor
# what a program says that was started before and still runs.
start() {
  [ ! -f "$1" ] || rm "$1"
  : >"$1"
  "${@:2}" >"$1" 2>&1 </dev/null & pid=$!
  started+=("$pid")
}

repeat_until() {
  local end=$((SECONDS + 120))
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < end)) || return 1
    sleep 0.02
  done
}

until_true() { repeat_until "${@:2}" || fail "never: $1"; }

await() { repeat_until grep -Eq "$2" "$1" || fail "never: $1 has $2, but: $(tail -n 20 "$1")"; }

is_served() { [[ $("$PENNA" ctl "$1" off nothing:here 2>&1) =~ 'names no point'|'does not take points'|'record all of its points' ]]; }
await_served() { until_true "penna ctl $1 is served" is_served "$1"; }

ends_otherwise() { [ "$(tail -n 1 "$1")" != "$2" ]; }
await_progress() { until_true "the program makes progress" ends_otherwise "$1" "$(tail -n 1 "$1")"; }

attach() {
  run penna record -f -o it.penna --duration 300ms -p "$@"
  expect_eq 0 "$status" "status of -p $*: $err"
  expect_match "$err" 'restored [1-9][0-9,]* places? in [0-9]+ modules?, verified'
  await_progress lines.txt
}

attach_to_each() {
  local program=$1 times=$2 options=$3 how round pids=()
  shift 3
  for how in "$@"; do
    start "$how.txt" "$program" "$how"
    pids+=("$pid")
  done
  for ((round = 0; round < times; ++round)); do
    for how in "$@"; do
      await "$how.txt" .
      # shellcheck disable=SC2086  # words
      run penna record -p "${pids[0]}" $options -f -o it.penna --duration 10ms
      expect_eq 0 "$status" "$how: $(tail -n 1 "$how.txt"): $err"
      expect_contains "$err" verified
      pids=("${pids[@]:1}" "${pids[0]}") # the next one
    done
  done
  touch enough
  for how in "$@"; do
    status=0; wait "${pids[0]}" || status=$?
    expect_eq 0 "$status" "$(<"$how.txt")"
    pids=("${pids[@]:1}")
  done
}

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

# Prints it without its fences. Examples in the docs are tests.
doc_block() {
  awk -v word="$2" '/^```/ {if (inside && index(block, word)) {printf "%s", block; exit} inside = !inside; block = ""; next}
                    inside {block = block $0 "\n"}' "$PENNA_SOURCE/docs/$1" | grep . || fail "docs/$1 has no example with '$2'"
}

copy_of_pages() {
  local build
  build=$(readlink -f "$(dirname "$PENNA")/..")
  if [ -e "$build/cmake_install.cmake" ]; then
    cmake --install "$build" --prefix "$work/penna" >install.log 2>&1 || fail "$(cat install.log)"
  else
    ln -s "$build" "$work/penna" # it is installed
  fi
  export PATH=$work/penna/bin:/usr/bin:$PATH PKG_CONFIG_PATH=$work/penna/lib/pkgconfig PENNA_PACKAGES=$PENNA_SOURCE/build/packages
  mkdir copy
  cp -r "$PENNA_SOURCE"/{README.md,docs,examples} copy
}

need() { "$PENNA_SOURCE/tools/install-packages" --package "$@" || fail "needs the Debian packages $*"; }

npm_packages() {
  command -v npm >/dev/null || need npm
  modules=${XDG_CACHE_HOME:-$HOME/.cache}/penna-tests/$(tr -c 'a-z0-9.\n' _ <<<"$*")/node_modules
  [ -e "$modules/complete" ] || {
    mkdir -p "${modules%/*}"
    npm install --prefix "${modules%/*}" --no-fund --no-audit "$@" >npm.log 2>&1 || fail "needs $* of npm: $(cat npm.log)"
    : >"$modules/complete"
  }
}

# The files that `penna sql` needs, downloaded once and cached.
sql_engine() {
  command -v npm >/dev/null || need npm
  export XDG_DATA_HOME=${XDG_CACHE_HOME:-$HOME/.cache}/penna-tests/data
  run penna sql --install
  expect_eq 0 "$status" "penna sql --install"
}
