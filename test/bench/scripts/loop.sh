#!/bin/sh
# Counts under a lock, here a directory, again and again:
#
#	loop.sh LOCK DIR WORKER
#
# It says ready, and begins when its standard input ends. It ends when there is
# DIR/stop. Each time it increments the number in DIR/counter and adds a line with it
# and its own name, the worker's, to DIR/log. The programs beside this one do the same.
echo ready
read -r _
while [ ! -e "$2/stop" ]; do
	until mkdir "$1.d" 2>/dev/null; do sleep 0.05; done
	read -r n <"$2/counter"
	n=$((n + 1))
	echo $n >"$2/counter"
	echo "$n $3" >>"$2/log"
	rmdir "$1.d"
done
