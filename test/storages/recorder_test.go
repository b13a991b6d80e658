//go:build linux

package storages

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/clock"
	"locksmith/test/guest"
	"locksmith/test/lab"
	"locksmith/test/lab/holds"
)

// A recorder hears all that contenders do, from test/history's program parent, and writes down
// who has which lock by its own clock. A parent says that it enters and that it leaves; it is
// inside only once its entering was answered, and releases the lock only once its leaving was
// answered.
type recorder struct {
	socket string
	stderr *os.File // of parents and helpers

	mu     sync.Mutex
	awake  *sync.Cond // with mu: signalled when some contest rests no more
	lives  map[string]*life
	outage bool // somebody is cut off, or the server is away: losses are explained
	stood  int  // how often the guest stood still
}

// A life is one parent, from its start to its end.
type life struct {
	contender *contender
	name      string
	cmd       *exec.Cmd
	wants     time.Duration
	entered   time.Duration
	inside    bool
	killed    bool   // whatever it may still say does not count
	hurt      bool   // its helper was killed in this round, or there was an outage
	fate      func() // what befalls it in this round, if anything
	when      string // the word soon after which its fate comes
	pending   bool   // it comes
	unjudged  bool   // the guest stood still in this round: what the parent says may be old
}

func now() time.Duration { return clock.Boot{}.Now() }

func newRecorder(t *testing.T) *recorder {
	t.Helper()
	r := &recorder{lives: map[string]*life{}}
	r.awake = sync.NewCond(&r.mu)
	var err error
	if r.stderr, err = os.Create(filepath.Join(t.TempDir(), "stderr")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.stderr.Close() })
	r.socket = lab.Packets(t, r.peer)
	return r
}

// standstill is for how long a guest must run for its helpers to warn in time. Where it does not,
// what was held counts until then, and what is heard next may be older.
const standstill = lease / 16

// notice looks for standstills, until the test is over.
func (r *recorder) notice(over <-chan struct{}) {
	const look = 50 * time.Millisecond
	for last := now(); ; last = now() {
		select {
		case <-over:
			return
		case <-time.After(look):
		}
		if now()-last < standstill {
			continue
		}
		r.mu.Lock()
		r.stood++
		for _, l := range r.lives {
			l.contender.contest.history.Give(l.name, max(last, l.entered))
			l.unjudged, l.hurt = true, true
		}
		r.mu.Unlock()
	}
}

// expect starts a parent. It returns false if the test is over.
func (r *recorder) expect(l *life, cmd *exec.Cmd) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	l.cmd = cmd
	if l.contender.contest.over || cmd.Start() != nil {
		return false
	}
	r.lives[l.name] = l
	return true
}

// gone notes the end of a parent.
func (r *recorder) gone(l *life) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l.dead()
	delete(r.lives, l.name)
}

func (l *life) dead() {
	if !l.killed {
		l.contender.contest.history.Kill(l.name, now())
	}
	l.killed, l.inside = true, false
}

// peer is one parent.
func (r *recorder) peer() lab.Peer {
	var l *life
	return lab.Peer{Hear: func(word, rest string) string {
		r.mu.Lock()
		defer r.mu.Unlock()
		if word == "hello" {
			l = r.lives[rest]
		}
		if l == nil || l.killed {
			return "end"
		}
		return r.hear(l, word, rest)
	}}
}

func span(word string, d time.Duration) string {
	return word + " " + strconv.FormatInt(d.Microseconds(), 10)
}

// hear takes one packet and returns the answer.
func (r *recorder) hear(l *life, word, rest string) string {
	c := l.contender.contest
	if l.when == word {
		l.pending, l.when = true, ""
		time.AfterFunc(rand.N(100*time.Millisecond), l.fate)
	}
	switch word {
	case "hello", "free":
		return r.begin(l)
	case "want":
		l.wants = now()
	case "enter":
		return r.enter(l, rest)
	case "leave":
		c.history.Give(l.name, now())
		l.inside = false
	case "lost":
		until := now()
		if ran, err := strconv.ParseInt(rest, 10, 64); err == nil {
			until = min(until, time.Duration(ran))
		}
		c.history.Give(l.name, until)
		l.inside = false
		r.miss(l, "lost")
	case "missed":
		r.miss(l, rest)
		return r.begin(l)
	}
	return "go"
}

// miss notes what nothing explains.
func (r *recorder) miss(l *life, why string) {
	if !l.hurt && !r.outage {
		l.contender.contest.losses = append(l.contender.contest.losses, l.name+": "+why)
	}
}

// begin begins a round, when the contest does not rest, and decides what comes to harm in it.
func (r *recorder) begin(l *life) string {
	c := l.contender.contest
	for c.rests && !c.over && !l.killed {
		r.awake.Wait()
	}
	if c.over || l.killed {
		return "end"
	}
	l.hurt, l.when, l.unjudged = r.outage || l.pending, "", false
	if rand.N(6) == 0 && !r.outage {
		who := rand.N(3)
		l.when = []string{"want", "enter", "leave"}[rand.N(3)]
		l.fate = func() { r.kill(l, who) }
	}
	return span("pause", rand.N(30*time.Millisecond))
}

func (r *recorder) enter(l *life, granted string) string {
	c := l.contender.contest
	_, token, _ := strings.Cut(granted, " ")
	n, _ := strconv.ParseUint(token, 10, 64) // what is none does not rise
	if !l.unjudged {
		l.entered = now()
		c.history.Take(holds.Hold{Who: l.name, Wanted: l.wants, Start: l.entered, Token: n})
		c.holds++
		c.byHost[l.contender.host]++
	}
	l.inside = true
	switch {
	case c.linger && c.captive == nil && l.contender.host == cutHost:
		c.captive, l.when, l.hurt = l, "", true
		return span("stay", time.Hour)
	case rand.N(100) == 0: // longer than a lease
		return span("stay", lease*3/2)
	}
	return span("stay", rand.N(20*time.Millisecond))
}

// kill kills a parent (0), its helper (1) or both, unless the contest is over.
func (r *recorder) kill(l *life, who int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := l.contender.contest
	if l.pending = false; l.killed || c.over || r.outage {
		return
	}
	l.hurt = true
	c.kills++
	for _, parent := range guest.Children(l.cmd.Process.Pid) {
		helpers := guest.Children(parent)
		if who != 1 {
			l.dead()
		}
		if who != 0 {
			for _, helper := range helpers {
				_ = unix.Kill(helper, unix.SIGKILL) // it may have ended
			}
		}
		if who != 1 {
			_ = unix.Kill(parent, unix.SIGKILL)
		}
	}
}

// killAll ends the contenders of a host, or all with 0.
func (r *recorder) killAll(host int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range r.lives {
		if host != 0 && l.contender.host != host {
			continue
		}
		l.dead()
		for _, parent := range guest.Children(l.cmd.Process.Pid) {
			for _, helper := range guest.Children(parent) {
				_ = unix.Kill(helper, unix.SIGKILL)
			}
			_ = unix.Kill(parent, unix.SIGKILL)
		}
	}
}

func (r *recorder) said() string {
	text, _ := os.ReadFile(r.stderr.Name())
	return fmt.Sprintf("%.3000s", text)
}
