#!/bin/bash
# lab.sh runs a command among several NFS client hosts, inside one user-mode
# Linux: its kernel has the NFS server and the clients that the machine's own
# kernel may lack. It needs no privilege, and listens nowhere outside the guest.
#
#   lab.sh [--vers 3|4.0|4.1|4.2] [--fs tmpfs|ext4] [--hosts N] [--timeout SEC]
#          [--cpu N] [--bin FILE]... -- COMMAND [ARG...]
#   lab.sh --check
#
# --check says what is missing, and exits 1 then. --bin puts a program, static
# if it is ours, on the command's PATH. The command runs on the server; doc.go
# says what it finds there. Its output is one stream, in its order.
#
# Exit status: the command's; 124 after --timeout (300 s); 125 when the lab
# itself failed, with what the guest said last.
set -u

fail() { echo "lab.sh: $*" >&2; exit 125; }

# check says what the lab lacks on this machine.
check() {
	local missing='' need
	[ "$(uname -sm)" = "Linux x86_64" ] || { echo "user-mode Linux needs Linux on amd64"; return 1; }
	for need in linux.uml:user-mode-linux rpc.nfsd:nfs-kernel-server mount.nfs:nfs-common \
		rpcbind:rpcbind ip:iproute2 busybox:busybox-static mkfs.ext4:e2fsprogs \
		mkfs.vfat:dosfstools nsenter:util-linux taskset:util-linux; do
		command -v "${need%%:*}" >/dev/null || missing="$missing ${need##*:}"
	done
	[ -z "$missing" ] || { echo "not installed:$missing"; return 1; }
	modules >/dev/null || { echo "no modules for linux.uml"; return 1; }
}

# modules prints where the guest kernel's modules are.
modules() {
	local d=/usr/lib/uml/modules/$(linux.uml --version)
	[ -r "$d/modules.dep" ] && echo "$d"
}

export PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
vers=4.2 fs=tmpfs hosts=3 timeout=300 cpu='' bins=()
while [ $# -gt 0 ]; do
	case $1 in
	--check) check; exit ;;
	--vers) vers=$2 ;;
	--fs) fs=$2 ;;
	--hosts) hosts=$2 ;;
	--timeout) timeout=$2 ;;
	--cpu) cpu=$2 ;;
	--bin) bins+=("$2") ;;
	--) shift; break ;;
	*) fail "unknown option $1" ;;
	esac
	shift 2 || fail "option without a value"
done
[ $# -gt 0 ] || fail "no command: see the head of this file"
why=$(check) || fail "$why"

# What guest and host share; everything else the guest sees read-only.
here=$(dirname "$(readlink -f "$0")")
work=$(mktemp -d "${TMPDIR:-/tmp}/nfslab.XXXXXX") || exit 125
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

cp -r "$here/guest/." "$work/"
for b in "${bins[@]}"; do cp "$b" "$work/bin/" || exit 125; done
: >"$work/output"
{ echo -n "exec"; printf ' %q' "$@"; } >"$work/command"
printf '%s=%q\n' VERS "$vers" FS "$fs" HOSTS "$hosts" TIMEOUT "$timeout" MODULES "$(modules)" >"$work/config"

# The guest's memory is a sparse file that is mapped executable. In memory it, and
# the guest's disk, do not wait for ours.
memory=$work
if [ -w /dev/shm ] && [ "$(df -Pk /dev/shm | tail -n 1 | tr -s ' ' | cut -d' ' -f4)" -gt 1500000 ]; then
	memory=$(mktemp -d /dev/shm/nfslab.XXXXXX) || exit 125
fi
arguments=(mem=1024M rootfstype=hostfs rootflags=/ ro "init=$work/init" quiet loglevel=4 panic=1
	con=null con0=null,fd:1 ssl=null "uml_dir=$work/" umid=uml "NFSLAB_DIR=$work")
if [ "$fs" != tmpfs ]; then
	truncate -s 256M "$memory/disk"
	arguments+=("ubda=$memory/disk")
fi
# The guest has one CPU. Its kernel and its processes take turns, and are three
# times as fast when they share one of ours.
pin=()
[ -z "$cpu" ] || pin=(taskset -c "$cpu")

mkfifo "$work/console.pipe" # UML cannot wait for a plain file
cat <"$work/console.pipe" >"$work/console" &
set -m # a process group for each job
TMPDIR=$memory "${pin[@]}" linux.uml "${arguments[@]}" </dev/null >"$work/console.pipe" 2>&1 &
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
