package main

import (
	"context"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
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

// A plan says how long to measure.
type plan struct {
	rounds   int           // in which each rival has its turn
	spawns   int           // runs of each rival in a round
	contend  time.Duration // by each rival in a round, or longer:
	changes  int           // until there are so many hand-offs
	most     time.Duration // but no longer than this
	crowds   []int         // how many processes contend
	handoffs int           // of each rival in a round
	queue    time.Duration // for a waiter to be waiting for certain
	settle   time.Duration // before idle processes are looked at
	watch    time.Duration // of idle waiters
	waiters  int           // that idle
	retire   time.Duration // until waiters of a lock that is asked for do so slowly
	helpers  []int         // that hold a lock each, for their memory
	curve    []int         // numbers of waiters
	steady   time.Duration // before they are watched
	load     time.Duration // while they are
}

var full = plan{
	rounds: 3, spawns: 150, contend: time.Second, changes: 10, most: 20 * time.Second, crowds: []int{8, 64},
	handoffs: 70, queue: 150 * time.Millisecond,
	settle: 3 * time.Second, watch: 20 * time.Second, waiters: 100, retire: time.Minute,
	helpers: []int{10, 100},
	curve:   []int{1, 2, 4, 8, 16, 32, 64, 128, 256}, steady: 6 * time.Second, load: 3 * time.Second,
}

var quick = plan{
	rounds: 1, spawns: 2, contend: 200 * time.Millisecond, changes: 2, most: time.Second, crowds: []int{8},
	handoffs: 2, queue: 100 * time.Millisecond,
	settle: time.Second, watch: time.Second, waiters: 10, retire: 2 * time.Second,
	helpers: []int{10},
	curve:   []int{1, 2, 4}, steady: 300 * time.Millisecond, load: 200 * time.Millisecond,
}

// slowly is how many of n runs are enough for a rival that takes long to start.
func slowly(n int) int { return max(1, n/10) }
