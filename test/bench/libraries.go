package main

import (
	"context"
	"os/exec"
	"time"
)

// libraries are rivals that programs link, each in a script of its own language. They
// nap for a second or more, flufl.lock for one on average.
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
	r := rival{name: name, naps: true, slow: true,
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
