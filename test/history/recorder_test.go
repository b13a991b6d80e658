//go:build unix

package history

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"locksmith/backends/clock"
	"locksmith/backends/process"
	"locksmith/test/lab"
)

// A recorder records who is inside which lock, by its own clock. A parent is inside only after
// its enter was answered, and releases only after its leave was answered. So in whatever order
// the recorder's goroutines run, sections that overlap here did overlap.
type recorder struct {
	socket string
	seed   uint64
	kills  int // how many there shall be

	mu      sync.Mutex
	lives   map[string]*life
	calm    bool           // no more kills
	calmed  chan struct{}  // closed when calm is set
	over    bool           // nobody shall want a lock any more
	deaths  int            // how many so far
	misses  map[string]int // misses without an injection, by kind and code
	faults  []string
	ids     map[string]bool
	stopped map[process.Process]bool // helpers
	stderr  *os.File                 // standard error of parents and helpers
}

// A life is one parent, from its start to its end.
type life struct {
	contender *contender
	process   *os.Process
	schedule  schedule
	wants     time.Duration // since when it wants a lock; 0: it wants none
	section   *section      // the section that it is in
	last      *section      // its last section, until that is released
	killed    bool          // nothing that it may still say counts
	hurt      bool          // we hurt it in this round
	dropped   time.Duration // when the kernel took the lock of this round's helper; 0: it did not
}

func newRecorder(t *testing.T, seed uint64, kills int) *recorder {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("needs packets over local sockets, and /proc")
	}
	r := &recorder{
		seed: seed, kills: kills,
		lives: map[string]*life{}, ids: map[string]bool{}, misses: map[string]int{}, stopped: map[process.Process]bool{}, calmed: make(chan struct{}),
	}
	var err error
	if r.stderr, err = os.Create(filepath.Join(t.TempDir(), "stderr")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.stderr.Close() })
	r.socket = lab.Packets(t, r.peer)
	return r
}

// said returns the beginning of what parents and helpers wrote to standard error.
func (r *recorder) said() string {
	text := make([]byte, 2000)
	n, _ := r.stderr.ReadAt(text, 0) // the text may be shorter
	return string(text[:n])
}

// living says of each parent that has not ended what it does, and what is in the directory of its
// locks.
func (r *recorder) living() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	now, text := clock.Boot{}.Now(), ""
	for _, l := range r.lives {
		does := "between rounds"
		switch {
		case l.section != nil:
			does = "inside for " + (now - l.section.enter).String()
		case l.wants != 0:
			does = "wants a lock for " + (now - l.wants).String()
		case l.last != nil && l.last.free == 0:
			does = "releases for " + (now - l.last.leave).String()
		}
		pid := 0
		if l.process != nil {
			pid = l.process.Pid
		}
		names, _ := exec.Command("ls", "-lR", "--full-time", l.contender.cell.dir).CombinedOutput()
		text += fmt.Sprintf("%s, by %q: parent %d, killed: %v, %s; %s", l.contender, l.contender.helper, pid, l.killed, does, names)
	}
	return text
}

// killed returns how many kills there were.
func (r *recorder) killed() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.deaths
}

// expect makes a life known before its parent starts. It returns false if the test is over.
func (r *recorder) expect(name string, l *life) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lives[name] = l
	return !r.over
}

func (r *recorder) started(l *life, p *os.Process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l.process = p
}

// ended notes the end of a parent. A parent must not fail by itself.
func (r *recorder) ended(l *life, name string, s *os.ProcessState) {
	r.gone(l)
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.lives, name)
	if s.ExitCode() > 0 {
		r.faults = append(r.faults, l.contender.String()+": its parent: "+s.String())
	}
}

// peer is one parent.
func (r *recorder) peer() lab.Peer {
	var l *life
	return lab.Peer{
		Hear: func(word, rest string) (answer string) {
			if word == "hello" {
				l, answer = r.hello(rest)
				return answer
			}
			return r.hear(l, word, rest)
		},
		Gone: func() { r.gone(l) },
	}
}

// hello finds the life that a parent was started for.
func (r *recorder) hello(name string) (*life, string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.lives[name]
	if l == nil {
		return nil, "end"
	}
	return l, r.begin(l)
}
