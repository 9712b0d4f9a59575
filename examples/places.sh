# SPDX-License-Identifier: MIT
# Sourced by the scripts here, which work both in Penna's source tree and next to an installed Penna.
#   $include     the folder of penna's headers
#   $packages    where sources of Debian are unpacked and built, once
#   penna        found in $PENNA_BIN, in build/release, or in PATH
root=$(readlink -f "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/..")
if [ -d "$root/include/penna" ]; then
  include=$root/include
  PATH=${PENNA_BIN:-$root/build/release/bin}:$PATH
else
  PATH=${PENNA_BIN:+$PENNA_BIN:}$PATH
  include=$(dirname "$(readlink -f "$(command -v penna || echo /usr/bin/penna)")")/../include
fi
packages=$root/build/packages
[ -w "$root" ] || packages=${XDG_CACHE_HOME:-$HOME/.cache}/penna/packages
packages=${PENNA_PACKAGES:-$packages}
