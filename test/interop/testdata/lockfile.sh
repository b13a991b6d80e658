# procmail's program. It writes a 0, and goes by age only with -l.
take() { lockfile -r 0 ${STALE:+-l "$STALE" -s 0} "$1" 2>/dev/null; }
give() { rm -f "$1"; }
refresh() { touch "$1"; }
. "${0%/*}/verbs.sh"
