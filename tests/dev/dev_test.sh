#!/bin/sh
# dev_test.sh SOURCE asking|silent: where packages are missing and the user is not root, ./dev lets sudo ask for a password if
# there is a terminal, and only then. In a copy of the script, with a dpkg-query that knows no package and a sudo that notes
# what it was asked and refuses.
set -eu
grep -qx 'VERSION_ID="*12"*' /etc/os-release && grep -qx 'ID=debian' /etc/os-release || exit 77 # ./dev sets up nothing here
source=$1
part=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/tools" "$work/bin"
cp "$source/dev" "$work"
cp "$source/tools/packages" "$work/tools"
printf '#!/bin/sh\n' >"$work/bin/dpkg-query"
# shellcheck disable=SC2016
printf '#!/bin/sh\necho "sudo: asked for: $*" >&2\nexit 1\n' >"$work/bin/sudo"
chmod 755 "$work" "$work/bin" "$work/bin/dpkg-query" "$work/bin/sudo"

# as_user COMMAND...: not as root
as_user() {
  if [ "$(id -u)" -ne 0 ]; then
    "$@"
  else
    chown -R 65534:65534 "$work"
    setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
  fi
}
PATH=$work/bin:$PATH
export PATH
case $part in
  asking) as_user script -qec "$work/dev setup build" /dev/null </dev/null >"$work/said" 2>&1 || true ;;
  silent) as_user "$work/dev" setup build </dev/null >"$work/said" 2>&1 || true ;;
esac
noted=$(grep -m 1 -o 'asked for: .*' "$work/build/setup.log") || { cat "$work/said"; exit 1; }
case $part/$noted in
  asking/'asked for: env '* | silent/'asked for: -n env '*) ;;
  *)
    echo "FAILED: $noted"
    exit 1
    ;;
esac
