# SPDX-License-Identifier: MIT
# Sourced: systems that have nothing, to try ours on. One is a folder of files: Debian's smallest (mmdebstrap's minbase, what images
# of containers hold), made once. Upon it lie layers of packages, also made once. All are kept in $store.
#   base SUITE                     makes the smallest system where it is not there yet, and prints its folder
#   with_packages SUITE GROUP...   the same with groups of tools/packages: prints its folders, upper first
#   with_user SUITE                the same with nothing but sudo, and a user who may use it
#   tidy                           removes what nobody will ask for again
# Invariants: what has a name is whole; what is being made is called NAME.part. What is kept grows with what tools/packages lists, not
# with how often that changes, nor with how often something is tried.
readonly fresh_tests=$root/tests/fresh
readonly store=${PENNA_FRESH_STORE:-$root/build/fresh}

die() { echo "fresh: $*" >&2; exit 1; }

this_suite() { (. /etc/os-release && echo "${VERSION_CODENAME:-unknown}"); }

# Debian's mirrors as this machine's apt has them, as lines for SUITE: suite, updates, security.
mirrors() {
  local suite=$1 here lines
  here=$(this_suite)
  if [ -n "${PENNA_FRESH_MIRROR:-}" ]; then echo "deb $PENNA_FRESH_MIRROR $suite main"; return; fi
  lines=$(apt-get indextargets --format '$(ORIGIN)|$(SITE)|$(RELEASE)|$(COMPONENT)' 'Created-By: Packages' |
    while IFS='|' read -r origin site release component; do
      case $origin/$release/$component in
        Debian/"$here"*/main) echo "deb $site $suite${release#"$here"} main" ;;
      esac
    done | sort -u)
  [ "$suite" != sid ] || lines=$(grep ' sid main$' <<<"$lines") # which has neither updates nor security
  [ -n "$lines" ] || die "apt knows no mirror of Debian here; name one: PENNA_FRESH_MIRROR=URL"
  echo "$lines"
}

# Proxies, keys and clocks as apt has them here.
apt_options() {
  local option key
  apt-config dump --no-empty --format '%F "%v";%n' |
    grep -E '^Acquire::((https?::[^ ]*(Proxy|Verify|CaInfo)[^ ]*)|Check-(Valid-Until|Date)) ' | while read -r option; do
      echo "--aptopt=$option"; done
  apt-get indextargets --format '$(SIGNED_BY)' 'Created-By: Packages' | sort -u | grep '^/' | grep -v '/debian-archive-' |
    while read -r key; do
      printf '%s\n' "--keyring=$key" "--customize-hook=upload $key /etc/apt/trusted.gpg.d/${key##*/}"
    done
}

# once NAME COMMAND...: unless $store/NAME is there, COMMAND makes $part, which is then called so. (COMMAND runs without set -e.)
once() {
  local to=$store/$1 to_lock=${1%%+*}
  shift
  mkdir -p "$store"
  (
    flock 9 # two at the same time make one of a suite once
    [ ! -e "$to" ] || exit 0
    part=$to.part
    rm -rf --one-file-system "$part"
    echo "fresh: making $to" >&2
    "$@" >"$to.log" 2>&1 9>&- || { tail -n 30 "$to.log" >&2; exit 1; }
    mv "$part" "$to"
  ) 9>"$store/${to_lock}.lock" || die "could not make $to: the end of $to.log is above"
}

make_base() {
  local lines options
  lines=$(mirrors "$1") || return
  mapfile -t options < <(apt_options)
  unshare --mount --propagation private \
    mmdebstrap --mode=root --variant=minbase --format=directory "${options[@]}" "$1" "$part" - <<<"$lines"
}

base() { once "$1" make_base "$1"; echo "$store/$1"; }

# Downloads are kept for the next, as links: apt locks its folder, and two systems may be at work.
# archives SUITE LAYER: where LAYER has what was downloaded for SUITE, to be bound; keep_archives: what it has besides, for others.
archives() {
  mkdir -p "$2/archives/partial" "$store/archives-$1"
  find "$store/archives-$1" -name '*.deb' -exec ln -t "$2/archives" {} + 2>/dev/null || true # some are gone meanwhile: tidy
  echo "$2/archives:/var/cache/apt/archives"
}
keep_archives() { find "$2/archives" -maxdepth 1 -name '*.deb' -exec mv -n -t "$store/archives-$1" {} +; }

# make_layer SUITE LOWER COMMAND...: what COMMAND changes there; the tools of this tree are in /mnt.
make_layer() {
  PENNA_FRESH_BIND="$(archives "$1" "$part") $root/tools:/mnt" "$fresh_tests/enter" "$part" "$2" "${@:3}" || return
  keep_archives "$1" "$part" && rm -r "$part/archives"
}

# named_group GROUP: another name when its list is another.
named_group() { echo "$1-$("$root/tools/install-packages" --list "$1" | md5sum | head -c 8)"; }

# with_packages SUITE GROUP...: its folders with the packages of these groups, upper first.
with_packages() {
  local suite=$1 lower name group
  lower=$(base "$suite")
  name=$suite
  shift
  for group in "$@"; do
    name+=+$(named_group "$group")
    once "$name" make_layer "$suite" "$lower" /mnt/install-packages "$group"
    touch "$store/$name" # in use: tidy
    lower=$store/$name/upper:$lower
  done
  echo "$lower"
}

# with_user SUITE: its folders with sudo and a user `me` who may use it.
with_user() {
  local lower
  lower=$(base "$1")
  once "$1+user" make_layer "$1" "$lower" bash -ec 'apt-get -qq update
    DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends sudo
    useradd --create-home --shell /bin/bash me
    echo "me ALL=(ALL) NOPASSWD: ALL" >/etc/sudoers.d/me'
  echo "$store/$1+user/upper:$lower"
}

# scratch NAME: a new folder for what one run changes; whose it is, is part of its name.
scratch() { mkdir -p "$store" && mktemp -d "$store/$1.$$.XXXXXX"; }

# Removes layers of lists that have changed since, an hour after the last use; downloads of which there is a newer version; and what is
# left of runs that were killed.
tidy() {
  local path name part
  for path in "$store"/*+*; do
    name=${path##*/} name=${name%.log} name=${name%.part}
    for part in ${name//+/ }; do
      case $part in *-????????) ;; *) continue ;; esac # no group
      [ "$part" = "$(named_group "${part%-*}" 2>/dev/null)" ] || find "$path" -maxdepth 0 -mmin +60 -exec rm -rf --one-file-system {} + 2>/dev/null || true # gone meanwhile
    done
  done
  for path in "$store"/archives-*; do
    [ ! -d "$path" ] || (cd "$path" && find . -name '*.deb' -printf '%f\n' | sort -t _ -k 1,1 -k 2,2Vr | awk -F _ 'seen[$1 $3]++' | xargs -r rm -f)
  done
  for path in "$store"/run.*.?????? "$store"/short.*.??????; do
    part=${path%.*}
    [ -d "/proc/${part##*.}" ] || rm -rf --one-file-system "$path"
  done
}
