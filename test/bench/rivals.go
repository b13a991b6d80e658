package main

import (
	"context"
	"os/exec"
	"time"
)

// Names of ours, which the table sets all others in relation to.
const (
	localName = "locksmith local:"
	nfsName   = "locksmith nfs:"
)

// local is locksmith with a lock for one machine.
func (b *bench) local() rival { return b.ours(localName, "local:", noFile) }

// nfs is locksmith with the lock that several hosts may share, here on a local disk.
func (b *bench) nfs() rival { return b.ours(nfsName, "nfs:", noReservations) }

// ours is locksmith with a lock below the address.
func (b *bench) ours(name, scheme string, left func(lock string) error) rival {
	return rival{name: name, left: left,
		run: func(lock string, command ...string) []string {
			return append([]string{b.path("locksmith"), "run", scheme + lock, "--"}, command...)
		},
		hold: func(lock string) []string {
			return []string{b.path("locksmith"), "hold", "--lease", "60", scheme + lock}
		},
		loop: func(lock string) []string { return []string{b.path("looper"), "client", scheme + lock} },
	}
}

// singleProc is ours started as the Go client starts helpers.
func singleProc(ours rival) rival {
	ours.name += ", GOMAXPROCS=1"
	hold := ours.hold
	ours.hold = func(lock string) []string { return append([]string{"env", "GOMAXPROCS=1"}, hold(lock)...) }
	return ours
}

// helpless is ours in a Go program that uses the backends, without helpers.
func (b *bench) helpless(ours rival, scheme string) rival {
	return rival{name: "without helper, " + scheme, left: ours.left,
		loop: func(lock string) []string { return []string{b.path("looper"), "backend", scheme + lock} },
	}
}

// floor takes no lock at all.
func (b *bench) floor() rival { return b.lockless("bare Go spawn", "floor") }

// peer takes no lock either, but has our libraries and minds our signals.
func (b *bench) peer() rival { return b.lockless("Go spawn, our libraries and signals", "peer") }

func (b *bench) lockless(name, program string) rival {
	return rival{name: name,
		run:  func(_ string, command ...string) []string { return append([]string{b.path(program)}, command...) },
		hold: func(string) []string { return []string{b.path(program)} },
	}
}

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

// dotlockfile sleeps for 5 s, and then for longer.
func dotlockfile() rival {
	return tool("dotlockfile -r -1", func(lock string, command ...string) []string {
		return append([]string{"dotlockfile", "-l", "-r", "-1", lock}, command...)
	}).needing("dotlockfile").sleeping()
}

// lockfile is procmail's. It sleeps for 8 s.
func lockfile() rival {
	const script = `lockfile "$0" && { "$@"; rm -f "$0"; }`
	return tool("lockfile (procmail)", func(lock string, command ...string) []string {
		return append([]string{"sh", "-c", script, lock}, command...)
	}).needing("lockfile").sleeping()
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

// libraries are rivals that programs link, each in a script of its own language. They
// sleep for a second or more, flufl.lock for one on average.
func (b *bench) libraries(ctx context.Context) []rival {
	return []rival{
		b.library(ctx, "flufl.lock (Python)", "/usr/bin/python3", "flufl.py"),
		b.library(ctx, "proper-lockfile (Node)", "node", "proper-lockfile.js"),
		b.library(ctx, "File::NFSLock (Perl)", "perl", "nfslock.pl"),
	}
}

// library is a rival whose script knows the verbs probe, run and loop.
func (b *bench) library(ctx context.Context, name, interpreter, script string) rival {
	argv := []string{interpreter, b.script(script)}
	r := rival{name: name, sleeps: true, slow: true,
		run: func(lock string, command ...string) []string {
			return append(append(argv[:2:2], "run", lock), command...)
		},
		loop: func(lock string) []string { return append(argv[:2:2], "loop", lock) },
	}
	r.missing = !b.works(ctx, append(argv[:2:2], "probe"))
	return r
}

// works is whether a command does.
func (b *bench) works(ctx context.Context, argv []string) bool {
	if _, err := exec.LookPath(argv[0]); err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	cmd := b.command(ctx, argv)
	cmd.Stderr = nil
	return cmd.Run() == nil
}
