#!/bin/sh
# bare_test.sh SOURCE root|sudo: in a Debian 12 with nothing in it but what debootstrap's smallest variant brings, one command
# sets up, builds and runs, the second call sets up nothing. `root`: as root, in a path with a space, and the tests too. `sudo`: as a
# user who may use sudo, from another folder.
#
# Needs root, debootstrap, and apt sources that work on this machine; they are copied in. Base system, downloaded packages and
# compiler cache are kept in ${XDG_CACHE_HOME:-~/.cache} between runs. Mounts and processes end with the name space.
set -eu
source=$1
mode=$2
cache=${XDG_CACHE_HOME:-$HOME/.cache}

fail() {
  printf 'FAILED: %s\n' "$*" >&2
  exit 1
}

if [ "${3:-}" != inside ]; then
  [ "$(id -u)" -eq 0 ] || fail "needs root, for chroot and mount"
  work=$(mktemp -d /var/tmp/bare.XXXXXX)
  trap 'rm -rf --one-file-system "$work"' EXIT
  setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child "$0" "$source" "$mode" inside "$work"
  exit
fi
work=$4
system=$work/system

# The archive that this machine itself installs Debian from.
mirror=$(sed -n 's/^URIs: *\(.*debian\)\/* *$/\1/p; s/^deb \(\[[^]]*\] \)*\([^ ]*debian\)\/* .*/\2/p' \
  /etc/apt/sources.list /etc/apt/sources.list.d/*.sources /etc/apt/sources.list.d/*.list 2>/dev/null | head -n 1)
[ -n "$mirror" ] || fail "no Debian archive in the apt sources of this machine"

base=$cache/looptask/bookworm-$(dpkg --print-architecture).tar
if [ ! -f "$base" ]; then
  mkdir -p "${base%/*}"
  debootstrap --variant=minbase bookworm "$work/base" "$mirror" || fail "debootstrap failed"
  tar -C "$work/base" --numeric-owner -cf "$base.$$" .
  mv "$base.$$" "$base"
  rm -rf "$work/base"
fi
mkdir "$system"
tar -C "$system" --numeric-owner -xpf "$base"

# apt as on this machine: sources, their keys, proxies.
rm -rf "$system/etc/apt/sources.list" "$system/etc/apt/sources.list.d"
cp -a /etc/apt/sources.list.d "$system/etc/apt/"
[ ! -f /etc/apt/sources.list ] || cp -a /etc/apt/sources.list "$system/etc/apt/"
cp -a /usr/share/keyrings/. "$system/usr/share/keyrings/"
[ ! -d /etc/apt/keyrings ] || cp -a /etc/apt/keyrings "$system/etc/apt/"
cp -a /etc/apt/trusted.gpg.d "$system/etc/apt/"
apt-config dump | grep '^Acquire::' | grep -v '^Acquire::\(IndexTargets\|Languages\|Changelogs\)' >"$system/etc/apt/apt.conf.d/99machine"
echo 'Binary::apt-get::APT::Keep-Downloaded-Packages "true";' >>"$system/etc/apt/apt.conf.d/99machine"
cp -L /etc/resolv.conf /etc/hosts "$system/etc/"

mount -t proc proc "$system/proc"
mount -t devpts -o newinstance,ptmxmode=0666,mode=0620,gid=5 devpts "$system/dev/pts"
ln -sfn pts/ptmx "$system/dev/ptmx"
mkdir -p "$cache/looptask/archives/partial" "$cache/ccache" "$system/ccache"
mount --bind "$cache/looptask/archives" "$system/var/cache/apt/archives"
if [ "$mode" = root ]; then mount --bind "$(ccache --get-config cache_dir 2>/dev/null || echo "$cache/ccache")" "$system/ccache"; fi

folder="/srv/loop task"
mkdir -p "$system$folder"
tar -C "$source" --exclude=./build --exclude=./.git -cf - . | tar -C "$system$folder" -xf -

home=/root
# in_system USER COMMAND: with a small environment, as after a login.
in_system() {
  chroot --userspec="$1" "$system" /usr/bin/env -i HOME="$home" PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    LANG=C.UTF-8 CCACHE_DIR=/ccache ${http_proxy:+"http_proxy=$http_proxy"} ${https_proxy:+"https_proxy=$https_proxy"} \
    /bin/sh -c "$2" </dev/null
}

# once USER COMMAND: runs it, its output to $work/said as well.
once() {
  echo "+ as $1: $2"
  in_system "$1" "$2" >"$work/said" 2>&1 || fail "$2: $(tail -n 60 "$work/said")"
  tail -n 12 "$work/said"
}

# refused USER WORDS: set-up fails with one line that has these words, after at most the line that says what is installed.
refused() {
  if in_system "$1" "'$folder/dev' setup build" >"$work/said" 2>&1; then fail "passed instead of: $2"; fi
  tail -n 1 "$work/said" | grep -qF "dev: $2" || fail "no '$2' in: $(cat "$work/said")"
  [ "$(wc -l <"$work/said")" -le 2 ] || fail "more than a line: $(cat "$work/said")"
}

for tool in make git cmake g++ python3 sudo; do
  if in_system 0:0 "command -v $tool" >/dev/null 2>&1; then fail "this system is not bare: it has $tool"; fi
done

case $mode in
  root)
    once 0:0 "cd '$folder' && ./dev run --for 15s"
    grep -q '^dev: installing from Debian: ' "$work/said" || fail "the first call installed nothing"
    mv "$system/usr/bin/apt-get" "$system/usr/bin/apt-get.away"
    once 0:0 "'$folder/dev' run --for 3s"
    once 0:0 "cd /tmp && '$folder/dev' test"
    grep -q '^100% tests passed' "$work/said" || fail "tests failed"
    ;;
  sudo)
    home=/home/user
    in_system 0:0 "useradd -m user && chown -R user: '$folder' /ccache"
    refused user "missing packages, and neither root nor sudo to install them: as root, apt-get install "
    sed -i.kept 's/^VERSION_ID=.*/VERSION_ID="13"/' "$system/etc/os-release"
    refused 0:0 "set-up knows Debian 12 and this is debian 13; install by hand "
    mv "$system/etc/os-release.kept" "$system/etc/os-release"
    mv "$system/etc/apt/sources.list.d" "$system/etc/apt/sources.away"
    refused 0:0 "apt-get failed: E: "
    mv "$system/etc/apt/sources.away" "$system/etc/apt/sources.list.d"
    in_system 0:0 'apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y install --no-install-recommends sudo' \
      >"$work/said" 2>&1 || fail "sudo cannot be installed: $(tail "$work/said")"
    in_system 0:0 "chown -R user: '$folder'"
    refused user "apt-get failed: sudo: "
    echo 'user ALL=(ALL) NOPASSWD: ALL' >"$system/etc/sudoers.d/user"
    once user "cd '$folder' && ./dev setup build"
    rm "$system/etc/sudoers.d/user"
    once user "cd && '$folder/dev' setup build"
    [ ! -s "$work/said" ] || fail "the second call did something: $(cat "$work/said")"
    ;;
esac
exit 0
