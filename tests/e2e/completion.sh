#!/bin/bash
# SPDX-License-Identifier: MIT
# Completion in bash, zsh and fish, as installed: verbs, options, values, recordings, functions.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
need bash-completion zsh fish
mkdir -p share/bash-completion/completions share/zsh/vendor-completions share/fish/vendor_completions.d typed
penna completion bash >share/bash-completion/completions/penna
penna completion zsh >share/zsh/vendor-completions/_penna
penna completion fish >share/fish/vendor_completions.d/penna.fish
run penna completion csh
expect_eq 125 "$status" "status for a shell that has no script"
expect_contains "$err" "bash, zsh, fish"

cd typed
cat >shop.cc <<'PROGRAM'
namespace shop {
__attribute__((noipa)) int pay_all(int x) { return x + 1; }
}
int main() { return shop::pay_all(-1); }
PROGRAM
build_c shop -finstrument-functions
penna record -q -o other.penna -- ./shop
touch other.txt notes.txt

# Every option in the help is completed, and nothing else.
for verb in record report export ctl help; do
  run penna completion words 1 "$verb" --
  expect_eq "$(penna "$verb" --help --all | grep -Eo '^  (-[A-Za-z])?(,?--[a-z][a-z0-9-]+)*' |
    grep -Eo -- '--[a-z0-9-]+' | sort -u | paste -sd ' ')" \
    "$(cut -f 1 <<<"$out" | sort -u | paste -sd ' ')" "options of penna $verb"
done

# Following the docs, for ~/.bashrc.
PATH=$(dirname "$PENNA"):$PATH run bash -euc "$(doc_block install.md 'completion bash')
complete -p penna"
expect_contains "$out" _penna

for shell in bash zsh fish; do
  PATH=$(dirname "$PENNA"):$PATH /usr/bin/python3 "$PENNA_SOURCE/tests/e2e/completion.py" "$shell" "$work" || fail "$shell: completion differs"
done
echo PASS
