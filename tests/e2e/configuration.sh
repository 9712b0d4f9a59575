#!/bin/bash
# SPDX-License-Identifier: MIT
# Default options: user and project files, PENNA_OPTIONS; precedence, error locations, and files that are not read.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
unset XDG_CONFIG_HOME SUDO_UID
export HOME=$work/home
mkdir -p home/.config/penna project/deep/er
penna record -q -o rec.penna -- ls / >ls.txt
cp rec.penna project/deep/er
user=$HOME/.config/penna/config.toml
cd project/deep/er
rows() { penna report rec.penna alloc --format csv "$@" | tail -n +2 | grep -c .; }

# ---- None: nothing is set, and this is reported ---------------------------------------------------------------------
run penna config
expect_eq "0 # $user: not there" "$status $out" "penna config without files"

# ---- Following the docs ---------------------------------------------------------------------------------------------
doc_block configuration.md 'sort = "total"' >"$user"
run penna config
expect_eq 0 "$status" "penna config: $err"
expect_match "$out" "^kinds = \\[\"alloc\", \"locks\"\\] +# $user:[0-9]+\$"
# Its output is a settings file that sets the same.
sed 's/ *#.*//' <<<"$out" | grep . >printed.toml
cp printed.toml "$user"
run penna config
expect_eq "$(<printed.toml)" "$(sed 's/ *#.*//' <<<"$out" | grep .)" "what penna config prints, read again"

# ---- Precedence -----------------------------------------------------------------------------------------------------
printf '[report]\ntop = 2\n' >"$user"
expect_eq 2 "$(rows)" "rows by the user's file"
printf '[report]\ntop = 3\n' >"$work/project/.penna.toml"
expect_eq 3 "$(rows)" "rows by the project's file"
expect_eq 4 "$(PENNA_OPTIONS='report --top=4' rows)" "rows by PENNA_OPTIONS"
expect_eq 5 "$(PENNA_OPTIONS='report --top=4' rows -n 5)" "rows by the command line"
PENNA_OPTIONS='--color=never' run penna config report
expect_eq "# $user
# $work/project/.penna.toml

[report]
color = \"never\"                           # PENNA_OPTIONS
top = \"3\"                                 # $work/project/.penna.toml:2" "$out" "penna config report"
XDG_CONFIG_HOME=$work/elsewhere run penna config report
expect_contains "$out" "# $work/elsewhere/penna/config.toml: not there"

# An option on the command line overrides conflicting settings.
printf '[report]\njson = true\n[record]\nkinds = ["calls", "locks"]\nquiet = true\n' >"$work/project/.penna.toml"
expect_match "$(penna report rec.penna alloc)" '^\{'
expect_match "$(penna report rec.penna alloc --format csv | head -n 1)" ','
run penna record -f -o kinds.penna --alloc -- true
expect_eq "" "$err" "what a quiet penna record says"
expect_match "$(penna info kinds.penna)" '^kinds +alloc$'
printf '[record]\nquiet = false\n' >"$work/project/deep/.penna.toml"
printf '[record]\nquiet = true\n' >"$user"
run penna record -o loud.penna -- true
expect_contains "$err" loud.penna

# ---- Errors: one sentence with file and line, and status 2; for penna record, whose status is the command's, 125 ----
blamed() {
  local want=$1
  shift
  run "$@"
  expect_eq 1 "$(wc -l <err.txt)" "sentences of $*: $err"
  expect_contains "$err" "$want"
}
project=$work/project/deep/.penna.toml
printf '[report]\n\ntop = = 3\n' >"$project"
blamed "$project:3: " penna report rec.penna
expect_eq 2 "$status" "status of a damaged file"
blamed "$project:3: " penna record true
expect_eq 125 "$status" "status of penna record with a damaged file"
printf '[report]\nfarmes = 3\n' >"$project"
blamed "$project:2: penna report has no option farmes (did you mean 'frames'?)" penna report rec.penna
blamed "$project:2: " penna config
expect_eq 2 "$status" "status of penna config"
printf 'farmes = 3\n' >"$project"
blamed "$project:1: no verb has an option farmes (did you mean 'frames'?)" penna info rec.penna
printf '[reprot]\n' >"$project"
blamed "$project:1: there is no verb 'reprot' (did you mean 'report'?)" penna info rec.penna
printf '[report]\nframes = "many"\n' >"$project"
blamed "$project:2: --frames is a whole number, not 'many'" penna report rec.penna
expect_eq 2 "$status" "status of a wrong value"
printf '[report]\nformat = "xml"\n' >"$project"
blamed "$project:2: there is no --format 'xml': choose from table, csv, json" penna report rec.penna
printf '[record]\nquiet = "yes"\n' >"$project"
blamed "$project:2: quiet is true or false" penna record true
PENNA_OPTIONS='frames=3' blamed "PENNA_OPTIONS: 'frames=3' is neither a verb nor an option" penna info rec.penna
run penna help report
expect_eq 0 "$status" "help with a damaged file"

# ---- Another user's file: not read, and this is reported ------------------------------------------------------------
if [ "$(id -u)" = 0 ]; then
  printf '[report]\ntop = 1\n' >"$project"
  chown 65534 "$project"
  run penna report rec.penna alloc
  expect_eq 0 "$status" "status beside a file of another user"
  expect_contains "$err" "$project belongs to another user (uid 65534): it is not read"
  SUDO_UID=65534 run penna report rec.penna alloc
  expect_missing "$err" "another user"
fi
echo PASS
