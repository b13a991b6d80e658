//go:build unix

package ftplab

import (
	"math/rand/v2"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"locksmith/test/ftpserver"
	"locksmith/test/lab"
	"locksmith/test/lab/contest"
	"locksmith/test/lab/holds"
)

// sampleClient: one process brings a file, slowly, and is killed again and again; ten fetch the
// file together. Nobody sees half a file, or none.
func sampleClient(t *testing.T, kind, style string) {
	b := sampleRun{place: start(t, kind, style, ftpserver.Options{}), log: contest.NewLog(t)}
	b.place.succeeds(b.command("exclusive", "put"))
	var readers sync.WaitGroup
	for range 10 {
		readers.Go(func() {
			for n := 0; n < 4 || !b.enough.Load(); n++ {
				b.place.succeeds(b.command("shared", "get"))
			}
		})
	}
	over := make(chan struct{})
	go func() { readers.Wait(); close(over) }()
	b.bring(over)
	r := b.log.Check(t, style == "dir")
	together := holds.Together(r.Held)
	t.Logf("brought %d times, killed %d times, %d pairs together", b.brought, len(r.Kills), together)
	if together == 0 {
		t.Error("it was too easy")
	}
}

type sampleRun struct {
	place   *place
	log     *contest.Log
	brought int
	enough  atomic.Bool // it was brought, and the one who brought it killed
}

// command is one job under the lock.
func (b *sampleRun) command(mode, job string) *exec.Cmd {
	p := b.place
	flags := []string{"--lease", "10s"}
	if mode == "shared" {
		flags = append(flags, "--shared")
	}
	cmd := p.guarded(b.log, mode, 0, flags...)
	cmd.Args = append(cmd.Args, lab.Program(p.t, "test/ftplab/sampleclient"), job, p.server.Addr, p.server.User, p.server.Password, p.path+"/list")
	return cmd
}

// bring brings the file again and again until all have fetched it. Only every other time it lets
// the file arrive whole.
func (b *sampleRun) bring(over <-chan struct{}) {
	for i := 0; ; i++ {
		select {
		case <-over:
			return
		case <-time.After(rand.N(100 * time.Millisecond)):
		}
		if i%2 == 0 {
			b.place.succeeds(b.command("exclusive", "put"))
			b.brought++
			continue
		}
		b.bringAndDie()
		b.enough.Store(true)
	}
}

func (b *sampleRun) bringAndDie() {
	helper := lab.Start(b.place.t, b.command("exclusive", "put"))
	b.log.Await(b.place.t, helper.PID())
	time.Sleep(rand.N(150 * time.Millisecond))
	b.log.Killed(b.place.t, helper.PID())
	helper.Kill()
}
