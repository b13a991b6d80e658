# liblockfile's program. It writes a 0, or with -p the pid of its caller.
# shellcheck disable=SC2086
take() { dotlockfile -l -r 0 $PID -q "$1"; }
give() { dotlockfile -u "$1"; }
refresh() { dotlockfile -t "$1"; }
. "${0%/*}/verbs.sh"
