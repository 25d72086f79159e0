#!/usr/bin/env bash
# install.sh FOLDER: the MCP clients of the tests, in a folder, unless they are there already. Pinned in package.json and
# requirements.txt. Node comes as a package, too: the inspector needs a newer one than distributions have.
set -euo pipefail

folder=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
stamp=$(cat "$here/package.json" "$here/requirements.txt" | sha256sum)

mkdir -p "$folder"
# Several tests may ask at the same time.
exec 9>"$folder/lock"
flock 9
if [ "$(cat "$folder/stamp" 2>/dev/null)" = "$stamp" ]; then
    exit 0
fi
rm -rf "$folder/stamp" "$folder/python" "$folder/node_modules"
cp "$here/package.json" "$folder/"
# The system's, which every user can run.
"$(PATH=/usr/local/bin:/usr/bin:/bin type -P python3)" -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet --disable-pip-version-check --requirement "$here/requirements.txt" &
pip=$!
npm --prefix "$folder" install --silent --no-audit --no-fund --no-package-lock
wait "$pip"
printf '%s\n' "$stamp" >"$folder/stamp"
