#!/bin/sh
# parent.sh SCENARIO LOCK GO: see doc.go.
scenario=$1 lock=$2 go=$3

await_go() {
	tries=0
	until [ -e "$go" ]; do
		tries=$((tries + 1)) # a sleep each: about two minutes in all
		[ "$tries" -lt 2400 ] || exit 3
		sleep 0.05
	done
}

limit=
[ "$scenario" = try ] && limit='--timeout 0'

dir=$(mktemp -d) && mkfifo "$dir/fifo" || exit
if [ "$scenario" = data ]; then
	exec 4<&0 # or a background command's input is /dev/null
	locksmith hold "$lock" <&4 4<&- >"$dir/fifo" & locker=$!
	exec 4<&-
else
	# shellcheck disable=SC2086 # no limit must be no word
	locksmith hold $limit "$lock" >"$dir/fifo" & locker=$!
fi
exec 3<"$dir/fifo"
rm -r "$dir"
read -r line <&3
case $line in OK*) ;; *) echo "no lock: $line" >&2; exit 1 ;; esac

if [ "$scenario" = fork ]; then
	sleep 600 & # with descriptor 3
	echo "child $!"
fi
echo working
if [ "$scenario" = data ]; then
	while IFS= read -r line; do printf 'data %s\n' "$line"; done
	echo eof
fi
await_go
kill "$locker"; wait "$locker"
[ $? = 143 ] || exit 1
echo released
