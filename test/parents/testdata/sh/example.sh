#!/bin/sh
dir=$(mktemp -d) && mkfifo "$dir/fifo" || exit
locksmith hold --timeout 10m "$1" >"$dir/fifo" & locker=$!
exec 3<"$dir/fifo"
rm -r "$dir"
read -r line <&3
case $line in OK*) ;; *) echo "no lock: $line" >&2; exit 1 ;; esac

echo working

kill "$locker"; wait "$locker"  # then it is released
[ $? = 143 ] || { echo "lost the lock" >&2; exit 1; }  # 143: because of kill
