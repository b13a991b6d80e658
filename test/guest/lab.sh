#!/bin/bash
# lab.sh runs a command among several hosts and a server, inside one user-mode Linux: its
# kernel has the clients, and servers, that the machine's own may lack. It needs no
# privilege, and listens nowhere outside the guest.
#
#   lab.sh [--set NAME=VALUE]... [--disk] [--hosts N] [--timeout SEC] [--cpu N]
#          [--bin FILE]... LAB -- COMMAND [ARG...]
#   lab.sh --check LAB
#
# LAB is a directory with what is special about one: needs, the programs that the machine
# must have, each with its package; serve, which inside/init runs to load modules of the kernel
# and to start the server; and bin, with a program attach that gives a host what it mounts. All
# of them find in their environment what --set says. With --disk there is an empty /dev/ubda.
#
# --check says what is missing, and exits 1 then. --bin puts a program, static
# if it is ours, on the command's PATH. The command runs on the server. Its output is one
# stream, in its order.
#
# Exit status: the command's; 124 after --timeout (300 s); 125 when the lab
# itself failed, with what the guest said last.
set -u

fail() { echo "lab.sh: $*" >&2; exit 125; }

# check says what the lab lacks on this machine.
check() {
	local missing='' need
	[ "$(uname -sm)" = "Linux x86_64" ] || { echo "user-mode Linux needs Linux on amd64"; return 1; }
	for need in linux.uml:user-mode-linux ip:iproute2 busybox:busybox-static mkfs.ext4:e2fsprogs \
		nsenter:util-linux taskset:util-linux $(cat "$lab/needs"); do
		command -v "${need%%:*}" >/dev/null || missing="$missing ${need##*:}"
	done
	[ -z "$missing" ] || { echo "not installed:$missing"; return 1; }
	modules >/dev/null || { echo "no modules for linux.uml"; return 1; }
	! many_registers || command -v cc >/dev/null || { echo "not installed: gcc, for state.c"; return 1; }
}

# many_registers tells whether the processor has more registers than linux.uml knows.
many_registers() { grep -qw amx_tile /proc/cpuinfo; }

# modules prints where the guest kernel's modules are.
modules() {
	local d=/usr/lib/uml/modules/$(linux.uml --version)
	[ -r "$d/modules.dep" ] && echo "$d"
}

export PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
hosts=3 timeout=300 cpu='' bins=() settings=() disk='' only=''
while [ $# -gt 0 ]; do
	case $1 in
	--check) only=yes; shift; continue ;;
	--disk) disk=yes; shift; continue ;;
	--set) settings+=("$2") ;;
	--hosts) hosts=$2 ;;
	--timeout) timeout=$2 ;;
	--cpu) cpu=$2 ;;
	--bin) bins+=("$2") ;;
	-*) fail "unknown option $1" ;;
	*) break ;;
	esac
	shift 2 || fail "option without a value"
done
lab=${1-}
[ -r "$lab/needs" ] || fail "no lab: see the head of this file"
[ -z "$only" ] || { check; exit; }
[ "${2-}" = -- ] && [ $# -gt 2 ] || fail "no command: see the head of this file"
shift 2
why=$(check) || fail "$why"

# What guest and host share; everything else the guest sees read-only.
here=$(dirname "$(readlink -f "$0")")
work=$(mktemp -d "${TMPDIR:-/tmp}/hosts.XXXXXX") || exit 125
uml='' memory='' watchers=''
cleanup() {
	# The guest's processes are processes here, all in the job's group.
	[ -z "$uml" ] || kill -KILL -- "-$uml" 2>/dev/null
	[ -z "$watchers" ] || kill $watchers 2>/dev/null
	rm -rf "$work" ${memory:+"$memory"}
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
case $work in
/mnt/* | /run/* | *[[:space:]]*) fail "the guest hides /mnt and /run, and takes no blanks: choose another TMPDIR" ;;
esac

cp -r "$here/inside/." "$lab/." "$work/" || exit 125
for b in "${bins[@]}"; do cp "$b" "$work/bin/" || exit 125; done
: >"$work/output"
{ echo -n "exec"; printf ' %q' "$@"; } >"$work/command"
for setting in "LAB_HOSTS=$hosts" "${settings[@]}"; do
	printf 'export %s=%q\n' "${setting%%=*}" "${setting#*=}"
done >"$work/config"
printf '%s=%q\n' TIMEOUT "$timeout" MODULES "$(modules)" >>"$work/config"

# The guest's memory is a sparse file that is mapped executable. In memory it, and
# the guest's disk, do not wait for ours.
memory=$work
if [ -w /dev/shm ] && [ "$(df -Pk /dev/shm | tail -n 1 | tr -s ' ' | cut -d' ' -f4)" -gt 1500000 ]; then
	memory=$(mktemp -d /dev/shm/hosts.XXXXXX) || exit 125
fi
arguments=(mem=1024M rootfstype=hostfs rootflags=/ ro "init=$work/init" quiet loglevel=4 panic=1
	con=null con0=null,fd:1 ssl=null "uml_dir=$work/" umid=uml "LAB_DIR=$work")
if [ -n "$disk" ]; then
	truncate -s 256M "$memory/disk"
	arguments+=("ubda=$memory/disk")
fi
preload=()
if many_registers; then
	cc -O2 -shared -fPIC -o "$work/state.so" "$here/outside/state.c" || fail "cannot compile state.c"
	preload=(env LD_PRELOAD="$work/state.so")
fi
# The guest has one CPU. Its kernel and its processes take turns, and are three
# times as fast when they share one of ours.
pin=()
[ -z "$cpu" ] || pin=(taskset -c "$cpu")

mkfifo "$work/console.pipe" # UML cannot wait for a plain file
cat <"$work/console.pipe" >"$work/console" &
set -m # a process group for each job
TMPDIR=$memory "${pin[@]}" "${preload[@]}" linux.uml "${arguments[@]}" </dev/null >"$work/console.pipe" 2>&1 &
uml=$!
set +m
( # The guest ends by itself after --timeout; this is for one that cannot.
	trap 'kill $!; exit' TERM
	sleep $((timeout + 60)) & wait
	kill -KILL -- "-$uml"
) 2>/dev/null &
watchers=$!
while sleep 0.1 && kill -0 "$uml"; do # the guest's suspend
	[ -s "$work/suspend" ] || continue
	sleep "$(cat "$work/suspend")"
	while [ -e "$work/suspend" ]; do kill -USR1 "$uml"; sleep 0.1; done
done 2>/dev/null &
watchers="$watchers $!"
tail -n +1 -f -s 0.1 --pid="$uml" "$work/output" 2>/dev/null &
show=$!
wait "$uml" 2>/dev/null
status=$(cat "$work/status" 2>/dev/null)
wait "$show"
kill $watchers 2>/dev/null; wait $watchers 2>/dev/null
watchers=''

if [ "${status:-125}" = 125 ]; then
	tail -n 20 "$work/boot.log" "$work/console" "$work/dmesg" 2>/dev/null | cut -c1-300 >&2
	fail "the guest failed"
fi
exit "$status"
