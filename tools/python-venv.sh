#!/usr/bin/env bash
# python-venv.sh: a virtual environment for examples/python, made again only when its requirements change.
. "$(dirname "$0")/lib.sh"

venv=$work/python
wanted=$root/examples/python/requirements.txt
cmp -s "$wanted" "$venv/.installed" && exit 0

"$root/tools/setup.sh" python
say "installing $(tr '\n' ' ' <"$wanted")in $venv …"
rm -rf "$venv"
python3 -m venv "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check -r "$wanted" </dev/null ||
  die "pip could not install what $wanted names"
cp "$wanted" "$venv/.installed"
