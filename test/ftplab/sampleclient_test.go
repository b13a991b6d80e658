package ftplab

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"locksmith/test/ftpserver"
	"locksmith/test/lab/holds"
)

// sampleClient: one brings a file, slowly, and is killed again and again; ten fetch
// it, together. Nobody sees half a file, or none.
func sampleClient(t *testing.T, kind string) {
	p := start(t, kind, "dir", ftpserver.Options{})
	b := sampleRun{place: p, history: newHistory(t)}
	if c := b.command(t.Context(), "exclusive", "put"); c.Run() != nil {
		t.Fatal(c.said.String())
	}
	var readers sync.WaitGroup
	for range 10 {
		readers.Go(b.fetch)
	}
	over := make(chan struct{})
	go func() { readers.Wait(); close(over) }()
	b.bring(over)
	s := b.history.check(t, p.style)
	together := holds.Together(s.held)
	t.Logf("brought %d times, killed %d times, fetched %d times, %d pairs together", b.brought, len(s.kills), b.fetched.Load(), together)
	if together == 0 || b.brought == 0 || len(s.kills) == 0 {
		t.Error("it was too easy")
	}
}

type sampleRun struct {
	place   *place
	history *history
	fetched atomic.Int32
	brought int
}

// command is one job under the lock.
func (b *sampleRun) command(ctx context.Context, mode, job string) *clientCommand {
	p := b.place
	args := []string{"run", "--lease", "10s"}
	if mode == "shared" {
		args = append(args, "--shared")
	}
	args = append(args, p.address(), "--", built.Path(p.t, "witness"), b.history.file, mode, "0s",
		built.Path(p.t, "sampleclient"), job, p.server.Addr, p.server.User, p.server.Password, p.path+"/list")
	c := &clientCommand{Cmd: p.locksmith(ctx, args...)}
	c.Stdout, c.Stderr = &c.said, &c.said
	return c
}

func (b *sampleRun) fetch() {
	for range 6 {
		ctx, cancel := context.WithTimeout(context.Background(), 3*waitLimit)
		c := b.command(ctx, "shared", "get")
		if err := c.Run(); err != nil {
			b.place.t.Errorf("fetch: %v\n%s", err, &c.said)
		}
		cancel()
		b.fetched.Add(1)
	}
}

// bring brings the file until all have fetched it, and lets it be brought whole
// only every other time.
func (b *sampleRun) bring(over <-chan struct{}) {
	for i := 0; ; i++ {
		select {
		case <-over:
			return
		case <-time.After(rand.N(100 * time.Millisecond)):
		}
		b.bringOnce(i%2 == 0)
	}
}

func (b *sampleRun) bringOnce(spare bool) {
	t := b.place.t
	ctx, cancel := context.WithTimeout(context.Background(), 3*waitLimit)
	defer cancel()
	c := b.command(ctx, "exclusive", "put")
	if err := c.Start(); err != nil {
		t.Error(err)
		return
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	if spare {
		if err := <-ended; err != nil {
			t.Errorf("bring: %v\n%s", err, &c.said)
		}
		b.brought++
		return
	}
	b.history.await(t, c.Process.Pid)
	time.Sleep(rand.N(150 * time.Millisecond))
	b.history.killed(t, c.Process.Pid)
	_ = c.Process.Signal(syscall.SIGKILL) // it may have ended
	<-ended
}

type clientCommand struct {
	*exec.Cmd
	said bytes.Buffer
}
