package main

import (
	"context"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

// scripts are rivals' libraries at work, each in its own language, and the FTP server.
//
//go:embed scripts
var scripts embed.FS

// A bench is what all measurements share.
type bench struct {
	settings
	dir      string // of everything we make, and of the locks
	messages *os.File
	ctx      context.Context // of all that we start
	cancel   context.CancelFunc
	running  sync.WaitGroup // processes
	etcd     string         // address of the server, empty where it is not installed
	races    int            // so far
}

// newBench makes the directory, and in it what the rivals need.
func newBench(ctx context.Context, s settings) (*bench, error) {
	dir, err := os.MkdirTemp("", "locksmith-bench-")
	if err != nil {
		return nil, err
	}
	b := &bench{settings: s, dir: dir}
	b.ctx, b.cancel = context.WithCancel(ctx)
	if err := b.prepare(); err != nil {
		err = fmt.Errorf("%w%s", err, b.lastMessages())
		b.remove()
		return nil, err
	}
	return b, nil
}

func (b *bench) prepare() (err error) {
	// A file, not a pipe: reading what the rivals say would cost them time.
	b.messages, err = os.OpenFile(b.path("messages"), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	if err := os.CopyFS(b.dir, scripts); err != nil {
		return err
	}
	programs := []string{"locksmith/cmd/locksmith", "locksmith/test/bench/looper", "locksmith/test/bench/floor", "locksmith/test/bench/peer"}
	for _, source := range programs {
		if err := b.build(source); err != nil {
			return err
		}
	}
	b.etcd, err = b.startEtcd()
	return err
}

// build makes a program, which path finds by the last part of its package's name.
func (b *bench) build(source string) error {
	cmd := exec.CommandContext(b.ctx, "go", "build", "-o", b.dir+"/", source)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOTMPDIR="+b.dir)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // it ends its compilers
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", source, err, said)
	}
	return nil
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

func (b *bench) script(name string) string { return filepath.Join(b.dir, "scripts", name) }

// remove ends all processes and removes everything.
func (b *bench) remove() {
	b.cancel()
	b.running.Wait()
	_ = b.messages.Close() // harmless on nil
	_ = os.RemoveAll(b.dir)
}

// lastMessages returns the end of what the rivals said on standard error, to
// explain a failure.
func (b *bench) lastMessages() string {
	const most = 2000
	said, _ := os.ReadFile(b.path("messages"))
	if len(said) == 0 {
		return ""
	}
	return "\nlast messages:\n" + string(said[max(0, len(said)-most):])
}
