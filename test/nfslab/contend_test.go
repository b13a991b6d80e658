//go:build linux

package nfslab

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync/atomic"
	"time"

	"locksmith/protocol"
)

// A contender is a process on a host that takes a lock again and again, each
// time by a new helper, and tells when it had it.
type contender struct {
	name   string
	lock   string
	mode   string
	rounds int
	lease  time.Duration
	work   time.Duration // at most, with the lock
	nap    time.Duration // at most, before it asks again
	killer uint64        // seed of its kills; 0: it kills nobody
}

// contend is the process itself. It says
//
//	ask TIME            when its helper has started
//	take TIME TOKEN     after OK
//	give TIME           before it lets go, and also before it kills one who may hold
//	kill TIME WHOM      before it does
//	lost CODE           instead of RELEASED: the time since take counts for nothing
//	refused TIME        instead of OK, because the guest was too slow for the lease
func contend(args []string) error {
	var c contender
	f := flag.NewFlagSet("contend", flag.ContinueOnError)
	f.StringVar(&c.lock, "lock", "", "")
	f.StringVar(&c.mode, "mode", "", "")
	f.IntVar(&c.rounds, "rounds", 1, "")
	f.DurationVar(&c.lease, "lease", 0, "")
	f.DurationVar(&c.work, "work", 0, "")
	f.DurationVar(&c.nap, "nap", 0, "")
	f.Uint64Var(&c.killer, "killer", 0, "")
	if err := f.Parse(args); err != nil {
		return err
	}
	k := &killer{}
	var enough atomic.Bool
	if c.killer != 0 {
		go k.rage(rand.New(rand.NewPCG(c.killer, 0)))
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin) // until told
			enough.Store(true)
		}()
	}
	for range c.rounds {
		if enough.Load() {
			return nil
		}
		time.Sleep(rand.N(c.nap + 1))
		if err := c.round(k); err != nil {
			return err
		}
	}
	return nil
}

func (c *contender) argv() []string {
	return []string{"nfslab.test", "contend", "-lock", c.lock, "-mode", c.mode,
		"-rounds", fmt.Sprint(c.rounds), "-lease", c.lease.String(), "-work", c.work.String(), "-nap", c.nap.String(),
		"-killer", fmt.Sprint(c.killer)}
}

// round takes the lock once, by the pipes alone: it needs the helper's pid.
func (c *contender) round(k *killer) error {
	args := []string{"hold", "--lease", c.lease.String()}
	if c.mode == "shared" {
		args = append(args, "--shared")
	}
	helper := exec.Command("locksmith", append(args, address(c.lock))...)
	helper.Stderr = os.Stderr
	stdin, err1 := helper.StdinPipe()
	stdout, err2 := helper.StdoutPipe()
	if err := errors.Join(err1, err2, helper.Start()); err != nil {
		return err
	}
	k.begin(helper.Process)
	fmt.Println("ask", int64(now()))
	err := c.hold(protocol.NewReader(stdout), stdin, k)
	wait := helper.Wait()
	if k.killed() || errors.Is(err, errLost) {
		return nil // the first was meant to be, the second is for others to judge
	}
	return errors.Join(err, wait)
}

// hold waits for OK, works, and lets go.
func (c *contender) hold(r *protocol.Reader, stdin io.Closer, k *killer) error {
	defer stdin.Close()
	first, err := r.Read()
	if err != nil {
		return fmt.Errorf("no first line: %w", err)
	}
	if protocol.Code(first.Value("code")) == protocol.Unreachable {
		fmt.Println("refused", int64(now()))
		return errLost
	}
	grant, err := protocol.ParseGrant(first)
	if err != nil {
		return fmt.Errorf("%s %s: %w", first.Word, first.Text, err)
	}
	k.take(grant.Token)
	time.Sleep(rand.N(c.work + 1))
	k.give()
	if err := stdin.Close(); err != nil {
		return err
	}
	last, err := r.Read()
	switch {
	case err != nil:
		return fmt.Errorf("no RELEASED: %w", err)
	case last.Word == protocol.WordLost:
		fmt.Println("lost", last.Value("code"))
		return errLost
	case last.Word != protocol.WordReleased:
		return fmt.Errorf("%s instead of RELEASED", last.Word)
	}
	return nil
}

var errLost = errors.New("the lock was lost")
