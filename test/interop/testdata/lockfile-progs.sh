# Programs of liblockfile's, which write a 0, or with -p the pid of their caller.
# shellcheck disable=SC2086
take() { lockfile-create -q -r 0 $PID --lock-name "$1"; }
give() { lockfile-remove --lock-name "$1"; }
refresh() { lockfile-touch --oneshot --lock-name "$1"; }
. "${0%/*}/verbs.sh"
