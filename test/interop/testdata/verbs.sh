# What the shell's tools do here, out of three functions of their own: take PATH
# tries once, give PATH releases, and refresh PATH gives a sign of life.
case $1 in
try)
	take "$2" || exit 75
	give "$2"
	;;
hold)
	until take "$2"; do sleep 0.05; done
	echo held
	while read -r _; do
		refresh "$2"
		echo refreshed
	done
	give "$2"
	;;
loop)
	lock=$2 rounds=$3
	shift 3
	while [ "$rounds" -gt 0 ]; do
		until take "$lock"; do sleep 0.05; done
		"$@" || exit 1
		give "$lock" || exit 1
		rounds=$((rounds - 1))
	done
	sleep 0.5 # or those that go by pids might hit the next one
	;;
esac
