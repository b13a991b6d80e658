package main

// A rival is one way to run a command while nobody else holds the lock.
type rival struct {
	name    string
	missing bool // it is not installed here
	argv    func(lock string, command ...string) []string
}

func (b *bench) locksmithRival() rival {
	return rival{name: "locksmith", argv: func(lock string, command ...string) []string {
		return append([]string{b.locksmith, "run", "local:" + lock, "--"}, command...)
	}}
}

// nfsRival is locksmith with the lock that several hosts may share, here on a
// local disk.
func (b *bench) nfsRival() rival {
	return rival{name: "locksmith-nfs", argv: func(lock string, command ...string) []string {
		return append([]string{b.locksmith, "run", "nfs:" + lock, "--"}, command...)
	}}
}

// flockRival is flock(1) of util-linux: a kernel lock on a file that stays.
func (b *bench) flockRival() rival {
	return rival{name: "flock(1)", missing: b.flock == "", argv: func(lock string, command ...string) []string {
		return append([]string{b.flock, lock}, command...)
	}}
}

// mkdirRival is what scripts do where there is no tool.
func mkdirRival() rival {
	const script = `until mkdir "$0.d" 2>/dev/null; do sleep 0.05; done; "$@"; rmdir "$0.d"`
	return rival{name: "mkdir loop", argv: func(lock string, command ...string) []string {
		return append([]string{"sh", "-c", script, lock}, command...)
	}}
}

// floorRival takes no lock at all.
func (b *bench) floorRival() rival {
	return rival{name: "bare Go spawn", argv: func(_ string, command ...string) []string {
		return append([]string{b.floor}, command...)
	}}
}

// present returns the rivals that are installed.
func present(rivals []rival) []rival {
	var here []rival
	for _, r := range rivals {
		if !r.missing {
			here = append(here, r)
		}
	}
	return here
}
