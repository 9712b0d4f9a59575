#!/bin/bash
# SPDX-License-Identifier: MIT
# Tables fit a terminal of 80 columns: no line is wider, names keep 30 characters, omitted columns are listed; --wide,
# --fields, and the pager.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

cat >shop.c <<'PROGRAM'
#include <penna/point.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_mutex_t guard_of_all_the_articles_in_the_northern_warehouse = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t guard_of_all_the_accounts_in_the_northern_warehouse = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noipa)) void *order_an_article_for_the_shelves_of_the_northern_warehouse(int i) {
  PENNA_EVENT(northern_warehouse, article_was_ordered_for_the_shelves, i);
  return malloc((size_t)i);
}
__attribute__((noipa)) void count_the_articles_on_the_shelves_of_the_northern_warehouse(int i) {
  pthread_mutex_lock(&guard_of_all_the_articles_in_the_northern_warehouse);
  free(order_an_article_for_the_shelves_of_the_northern_warehouse(i + 1));
  usleep(300);
  pthread_mutex_unlock(&guard_of_all_the_articles_in_the_northern_warehouse);
}
__attribute__((noipa)) int go_down_into_the_cellars_of_the_northern_warehouse(int depth) {
  return depth == 0 ? 0 : 1 + go_down_into_the_cellars_of_the_northern_warehouse(depth - 1);
}
__attribute__((noipa)) void take_one_after_the_other(pthread_mutex_t *one, pthread_mutex_t *other) {
  pthread_mutex_lock(one);
  pthread_mutex_lock(other);
  pthread_mutex_unlock(other);
  pthread_mutex_unlock(one);
}
static void *work(void *unused) {
  pthread_setname_np(pthread_self(), "worker-of-shop");
  for (int i = 0; i < 20; ++i) count_the_articles_on_the_shelves_of_the_northern_warehouse(i);
  return unused;
}
int main(void) {
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i) pthread_create(&threads[i], 0, work, 0);
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], 0);
  pthread_mutex_t *articles = &guard_of_all_the_articles_in_the_northern_warehouse;
  pthread_mutex_t *accounts = &guard_of_all_the_accounts_in_the_northern_warehouse;
  take_one_after_the_other(articles, accounts);
  take_one_after_the_other(accounts, articles);
  void *volatile left = order_an_article_for_the_shelves_of_the_northern_warehouse(4096);
  return left == 0 || go_down_into_the_cellars_of_the_northern_warehouse(40) != 40;
}
PROGRAM
build_c shop -finstrument-functions
for name in before after; do penna record -q -k calls,alloc,locks,points -o $name.penna -- ./shop; done

# Shortened names, with their context: not in sentences or in brackets in the place of a name, nor where the name is repeated at the end of a call.
short_names() { grep -Ev '} /\*| (un)?lock |waited|waits for|point |\(tid | \((stack not|released in)' <<<"$out" | grep -Eo '(mutex `)?[A-Za-z0-9_:/-]+\.\.\.[A-Za-z0-9_:/.-]+`?' | awk 'length < 30'; }
# fits ARGUMENTS...: sets $out to its output in 80 columns.
fits() {
  run env COLUMNS=80 "$PENNA" "$@"
  [ -n "$out" ] || fail "$* says nothing"
  expect_eq '' "$(awk 'length > 80' <<<"$out")" "lines of $* wider than 80"
  expect_eq '' "$(short_names)" "names of $* shorter than 30"
}

tables=$(penna completion words 3 report before.penna '' | awk '/^[a-z]/ {print $1}')
[ "$(wc -w <<<"$tables")" -ge 18 ] || fail "incomplete list of tables: $tables"
fits report before.penna
for table in $tables; do
  fits report before.penna "$table"
done
for by in function module process thread call kind freer; do fits report before.penna alloc --by $by; done
for by in function holder lock thread process; do fits report before.penna waits --by $by; done
for by in module thread; do fits report before.penna calls --by $by; done
for option in '' --alloc --leaks; do fits diff before.penna after.penna $option; done
for option in '' --merge --stacks --tree '--tree --all'; do fits replay before.penna $option; done
fits graph count_the_articles_on_the_shelves_of_the_northern_warehouse before.penna
fits list ./shop
fits list before.penna
fits info before.penna
fits check before.penna --max-leak 0
fits lint ./shop
fits doctor

# The least important columns are omitted, and a line lists them.
fits report before.penna calls
expect_match "$out" '^no room for [A-Z0-9, ]+: --wide shows all, --fields chooses$'
expect_match "$out" '^CALLS +TOTAL +SELF .*FUNCTION$'
expect_match "$out" '  count_the_[a-z_]+\.\.\.[a-z_]+_warehouse$'
for column in $(grep '^no room for ' <<<"$out" | sed 's/no room for //; s/:.*//; s/,//g'); do
  expect_missing "$(grep '^CALLS' <<<"$out")" " $column "
done
fits replay before.penna
expect_contains "$out" 'no room for TID'
expect_match "$out" '\[40\] go_down_into_\.\.\.'

# --wide: all columns and whole names, as in a pipe without COLUMNS.
for arguments in 'report before.penna calls' 'report before.penna locks' 'replay before.penna'; do
  run penna $arguments
  expect_missing "$out" 'no room for'
  expect_eq "$out" "$(COLUMNS=80 penna $arguments --wide)" "$arguments --wide"
done

# --fields: these columns in this order, in text, CSV and JSON.
run env COLUMNS=80 "$PENNA" report before.penna calls --fields function,p50,calls
expect_match "$out" '^FUNCTION +P50 +CALLS$'
expect_missing "$out" 'no room for'
expect_eq function,p50_ns,calls "$(penna report before.penna calls --fields function,p50,calls --format csv | head -n 1)" "header of CSV"
expect_eq "['calls', 'function']" "$(penna report before.penna calls -f calls,function --json |
  python3 -c 'import json, sys; print(sorted(json.load(sys.stdin)["calls"][0]))')" "keys of JSON"
run penna report before.penna calls --fields function,cals
expect_eq 125 "$status" "status for a field that is not there"
expect_match "$err" "there is no field 'cals'.*did you mean 'calls'.*choose from .*function"
run penna diff before.penna after.penna --fields function,dleta
expect_eq 125 "$status" "status of diff for a field that is not there"
expect_contains "$err" "did you mean 'delta'"

# The pager: only on a terminal, and with the whole text.
cat >pager <<'PAGER'
#!/bin/sh
echo "LESS is $LESS" >>"$MARK"
cat
PAGER
chmod +x pager
export MARK=$work/mark
# paged WANT TERM COMMAND: sets $out to what the terminal shows; WANT: 1 if a pager ran.
paged() {
  rm -f mark
  status=0
  out=$(env -u COLUMNS -u LESS TERM="$2" PAGER="$work/pager" script -qec "stty cols 80; $3" /dev/null </dev/null | tr -d '\r') || status=$?
  expect_eq "$1" "$([ -e mark ] && echo 1 || echo 0)" "pager of $3"
  expect_contains "$out" 'count_the_'
}
report="$PENNA report before.penna calls"
paged 1 xterm "$report"
expect_eq "LESS is FRX" "$(<mark)" "options of less"
expect_eq "$(COLUMNS=80 $report)" "$out" "text through a pager"
paged 1 xterm "$PENNA replay before.penna"
paged 1 xterm "$PENNA diff before.penna after.penna"
paged 0 xterm "$report --no-pager"
paged 0 xterm "$report | cat"
paged 0 dumb "$report"
paged 0 xterm "PAGER=cat $report"
paged 0 xterm "PAGER= $report"
paged 0 xterm "PAGER=/nonexistent/pager $report" # then the text goes without
run env PAGER="$work/pager" TERM=xterm "$PENNA" report before.penna calls
[ ! -e mark ] || fail "a pager was started without a terminal"

# Without $PAGER it is less, which needs a known height.
mkdir bin
printf '#!/bin/sh\necho "$*" >"$MARK"\ncat\n' >bin/less
chmod +x bin/less
for rows in 24 0; do
  rm -f mark
  env -u PAGER PATH="$work/bin:$PATH" TERM=xterm script -qec "stty cols 80 rows $rows; $report" /dev/null </dev/null >shown.txt
  expect_contains "$(<shown.txt)" 'count_the_'
  expect_eq "$([ $rows = 0 ] || echo -FRX)" "$(cat mark 2>/dev/null)" "less on a terminal of $rows lines"
done

# Quitting a pager early is no error.
status=0
TERM=xterm script -qec "PAGER='head -n 1' $report -n 0" /dev/null </dev/null >left.txt || status=$?
expect_eq 0 "$status" "status after a pager that was left"
