// SPDX-License-Identifier: MIT
// See scripts.h.
#include "cli/complete/scripts.h"

namespace penna {
namespace {

// bash replaces only what follows the last = or : of a word (COMP_WORDBREAKS), so the part before it is cut off.
constexpr char kBash[] = R"script(# bash completion of penna; written by: penna completion bash
_penna() {
  local before=${COMP_LINE:0:COMP_POINT} entry word penna kept= i
  local -a words behind files
  read -ra words <<<"$before"
  [[ $before != *[[:blank:]] ]] || words+=('')
  read -ra behind <<<"${COMP_LINE:COMP_POINT}"
  word=${words[-1]} penna=${words[0]/#\~/$HOME}
  [[ $word != *[=:]* || $COMP_WORDBREAKS != *:* ]] || kept=${word%"${word##*[=:]}"}
  COMPREPLY=()
  while IFS= read -r entry; do
    files=()
    case $entry in
      :files) mapfile -t files < <(compgen -f -- "${word#"$kept"}") ;;
      :directories) mapfile -t files < <(compgen -d -- "${word#"$kept"}") ;;
      :recordings)
        mapfile -t files < <(compgen -d -- "${word#"$kept"}"; compgen -f -X '!*.penna' -- "${word#"$kept"}") ;;
      :commands) mapfile -t files < <(compgen -c -- "$word"; [[ $word != */* ]] || compgen -f -- "$word") ;;
      ':command '*)
        entry=${words[${entry#:command } + 1]}
        for ((i = 1; i < COMP_CWORD; i++)); do
          [[ ${COMP_WORDS[i]} != "$entry" ]] || break
        done
        if declare -F _command_offset >/dev/null; then _command_offset "$i"; return; fi
        mapfile -t files < <(compgen -f -- "${word#"$kept"}") ;;
      *) entry=${entry%%$'\t'*} COMPREPLY+=("${entry#"$kept"}") ;;
    esac
    [ ${#files[@]} = 0 ] || compopt -o filenames
    COMPREPLY+=("${files[@]}")
  done < <(command "$penna" completion words $((${#words[@]} - 2)) "${words[@]:1}" "${behind[@]}" 2>/dev/null)
} && complete -F _penna penna
)script";

constexpr char kZsh[] = R"script(#compdef penna
# zsh completion of penna; written by: penna completion zsh
_penna() {
  local entry
  local -a described
  for entry in "${(@f)$(command ${~words[1]} completion words $((CURRENT - 2)) "${(@)words[2,-1]}" 2>/dev/null)}"; do
    case $entry in
      :files) _files ;;
      :directories) _files -/ ;;
      :recordings) _files -g '*.penna' ;;
      :commands) _command_names -e; _files -g '*(*)' ;;
      ':command '*)
        shift $((${entry#:command } + 1)) words
        ((CURRENT -= ${entry#:command } + 1))
        _normal ;;
      ?*) described+=("${${entry%%$'\t'*}//:/\\:}:${entry#*$'\t'}") ;;
    esac
  done
  ((!${#described})) || _describe penna described
}
if [ "$funcstack[1]" = _penna ]; then _penna "$@"; else compdef _penna penna; fi
)script";

constexpr char kFish[] = R"script(# fish completion of penna; written by: penna completion fish
function __penna_words
    set -l before (commandline -opc)
    set -l word (commandline -ct)
    set -l all (commandline -o)
    set -l behind
    set -l next (math (count $before) + 1 + (test -n "$word"; and echo 1; or echo 0))
    test $next -le (count $all); and set behind $all[$next..-1]
    set -l index (math (count $before) - 1)
    for entry in (command $before[1] completion words $index $before[2..-1] "$word" $behind 2>/dev/null)
        switch $entry
            case ':files'
                __fish_complete_path "$word"
            case ':recordings'
                __fish_complete_path "$word" | string match -r '.*(?:\.penna|/)(?:\t.*)?$'
            case ':directories'
                __fish_complete_directories "$word"
            case ':commands'
                __fish_complete_command
            case ':command *'
                set -l program (math (string replace ':command ' '' -- $entry) + 2)
                complete -C (string join ' ' -- (string escape -- $before[$program..-1]) "$word")
            case '*'
                echo $entry
        end
    end
end
complete -c penna -f -a '(__penna_words)'
)script";

}  // namespace

const char* completion_script(const std::string& shell) {
  if (shell == "bash") return kBash;
  if (shell == "zsh") return kZsh;
  if (shell == "fish") return kFish;
  return nullptr;
}

}  // namespace penna
