//go:build linux && amd64

package crash

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
)

// A parent is at the other end of a helper's pipes. It is the tracer, which tells the test in
// lines what it sees:
//
//	helper PID          the helper was started
//	says LINE           it said so
//	silent              its output has ended
//	stop N WHEN CALL    where it was killed, or which call failed
//	change N WHEN CALL  the same, if the call changes something
//	spared CALL         the call that was to fail cannot fail
//	moment WHEN CALL    it pauses there
//	ended HOW stops=N   it has ended
//
// The test says:
//
//	letgo               close the helper's input
//	pause MOMENT        pause there next
//	go, stop, leave     what to do with a helper that pauses: let it go on; stop it
//	                    (SIGSTOP); let it go on without tracing it
type parent struct {
	toHelper io.Closer
	letGo    bool
	moment   atomic.Value // string
	orders   chan string
	silent   chan struct{}
	stops    int

	mu sync.Mutex
}

func newParent(pid int, toHelper io.Closer, p plan) *parent {
	all := &parent{toHelper: toHelper, letGo: p.LetGo, orders: make(chan string), silent: make(chan struct{})}
	all.moment.Store(p.Moment)
	all.tell("helper %d", pid)
	return all
}

func (p *parent) tell(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Printf(format+"\n", args...)
}

// listen reads what the helper says.
func (p *parent) listen(out io.Reader) {
	defer close(p.silent)
	for s := bufio.NewScanner(out); s.Scan(); {
		p.tell("says %s", s.Text())
		if p.letGo && strings.HasPrefix(s.Text(), "OK ") {
			_ = p.toHelper.Close() // it is closed already only if this is the second OK
		}
	}
	p.tell("silent")
}

// obey does what the test says, until the test closes in.
func (p *parent) obey(in io.Reader) {
	for s := bufio.NewScanner(in); s.Scan(); {
		order, moment, _ := strings.Cut(s.Text(), " ")
		switch order {
		case "letgo":
			_ = p.toHelper.Close() // the helper may have ended
		case "pause":
			p.moment.Store(moment)
		default:
			p.orders <- order
		}
	}
	os.Exit(1)
}

// ended tells how the helper ended.
func (p *parent) ended(status syscall.WaitStatus) {
	<-p.silent
	how := fmt.Sprintf("exit %d", status.ExitStatus())
	if status.Signaled() {
		how = fmt.Sprintf("signal %d", status.Signal())
	}
	p.tell("ended %s stops=%d", how, p.stops)
}
