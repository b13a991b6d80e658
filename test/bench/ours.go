package main

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

// spared is ours started as the Go client starts helpers.
func spared(ours rival) rival {
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
