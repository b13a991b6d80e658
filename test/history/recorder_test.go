package history

import (
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"locksmith/backends/process"
	"locksmith/test/lab"
)

// A recorder writes down who is inside which lock, by its own clock. A parent is inside
// only once its enter was answered, and releases only once its leave was: so whatever
// order its goroutines run in, sections that overlap here did overlap.
type recorder struct {
	socket string
	seed   uint64
	kills  int // how many there shall be

	mu      sync.Mutex
	lives   map[string]*life
	calm    bool           // no more kills
	calmed  chan struct{}  // closed then
	over    bool           // nobody shall want a lock any more
	deaths  int            // so far
	misses  map[string]int // without an injection, by kind and code
	faults  []string
	ids     map[string]bool
	stopped map[process.Process]bool // helpers
	stderr  *os.File                 // of parents and helpers
}

// A life is one parent, from its start to its end.
type life struct {
	contender *contender
	process   *os.Process
	schedule  schedule
	wants     time.Duration // since when; 0: it does not
	section   *section      // that it is in
	last      *section      // that it was in last, until it is released
	killed    bool          // what it may still say counts for nothing
	hurt      bool          // in this round, by us
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

// said is how what parents and helpers said on standard error begins.
func (r *recorder) said() string {
	text := make([]byte, 2000)
	n, _ := r.stderr.ReadAt(text, 0) // it is shorter
	return string(text[:n])
}

// killed is how many kills there were.
func (r *recorder) killed() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.deaths
}

// expect makes a life known before its parent starts; false: all is over.
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

// ended is the end of a parent, which has no failure of its own.
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

// hello finds the life that a parent was started as.
func (r *recorder) hello(name string) (*life, string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.lives[name]
	if l == nil {
		return nil, "end"
	}
	return l, r.begin(l)
}
