#!/usr/bin/env bash
# packages.sh: installs the npm packages that tests/packages serves, at the versions its lock file pins.
. "$(dirname "$0")/lib.sh"
cd "$root/tests/packages"

command -v npm >/dev/null || install_packages nodejs npm
# npm leaves this file when it is done, so a half-made folder is not taken for a whole one.
installed=node_modules/.package-lock.json
if [ ! -e "$installed" ] || [ package-lock.json -nt "$installed" ]; then
  npm ci --silent
fi
