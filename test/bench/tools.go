package main

// flock is flock(1) of util-linux: a kernel lock on a file that stays.
func flock() rival {
	return tool("flock(1)", func(lock string, command ...string) []string {
		return append([]string{"flock", lock}, command...)
	}).needing("flock")
}

// setlock is a kernel lock, too, and becomes the command.
func setlock() rival {
	return tool("s6-setlock", func(lock string, command ...string) []string {
		return append([]string{"s6-setlock", lock}, command...)
	}).needing("s6-setlock")
}

// dotlockfile naps for 5 s, and then for longer.
func dotlockfile() rival {
	return tool("dotlockfile -r -1", func(lock string, command ...string) []string {
		return append([]string{"dotlockfile", "-l", "-r", "-1", lock}, command...)
	}).needing("dotlockfile").napping()
}

// lockfile is procmail's. It naps for 8 s.
func lockfile() rival {
	const script = `lockfile "$0" && { "$@"; rm -f "$0"; }`
	return tool("lockfile (procmail)", func(lock string, command ...string) []string {
		return append([]string{"sh", "-c", script, lock}, command...)
	}).needing("lockfile").napping()
}

// mkdirLoop is what scripts do where there is no tool.
func (b *bench) mkdirLoop() rival {
	const script = `until mkdir "$0.d" 2>/dev/null; do sleep 0.05; done; "$@"; rmdir "$0.d"`
	r := tool("mkdir loop (sh, sleep 0.05)", func(lock string, command ...string) []string {
		return append([]string{"sh", "-c", script, lock}, command...)
	})
	r.forks = true
	r.loop = func(lock string) []string { return []string{"sh", b.script("loop.sh"), lock} }
	return r
}

// etcdctl asks our own server. Its commands do not get its standard input.
func (b *bench) etcdctl() rival {
	const hold = `exec "$@" sh -c "echo OK; cat </proc/$$/fd/0"`
	lock := func(lock string) []string { return []string{"etcdctl", "--endpoints", b.etcd, "lock", "--", lock} }
	return rival{name: "etcdctl lock", slow: true, missing: b.etcd == "",
		run:  func(name string, command ...string) []string { return append(lock(name), command...) },
		hold: func(name string) []string { return append([]string{"sh", "-c", hold, "sh"}, lock(name)...) },
	}
}

// kernel is flock(2) in a Go program: as much as loops can do.
func (b *bench) kernel() rival {
	return rival{name: "flock(2) in Go", loop: func(lock string) []string { return []string{b.path("looper"), "flock", lock} }}
}
