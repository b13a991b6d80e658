package ftpserver

import (
	"io"
	"strings"
)

// A Point is the moment in the life of a command at which a fault happens.
type Point int

// The points of a command.
const (
	Before   Point = iota // the server never gets the command
	Sent                  // the command is on its way to the server, which may or may not execute it
	Answered              // the server has answered, and the client has not got the answer
)

// An Action is what goes wrong.
type Action int

// The actions. Before the fault happens, everything passes.
const (
	Cut      Action = iota // close both ways, in order
	Reset                  // break both ways off, with RST
	Stall                  // pass nothing more, either way, and close nothing
	Truncate               // at Answered: pass half the answer, then Cut
	Reply                  // say Text instead of the server
)

// A Fault is one thing that goes wrong, once, on a control connection. It happens at the
// Command-th command from now on, or after Replies bytes of replies from now on. If neither is
// given, it happens at once; on a new connection it then takes the place of the greeting. Replies
// is for Cut, Reset and Stall only.
type Fault struct {
	Command int    // from 1
	Verb    string // if given, only commands with it count
	At      Point  // with Command
	Replies int    // bytes

	Do Action
	// Text is what Reply says, without line end. If it begins with 421, the proxy cuts the
	// connection after it, as servers do. With another text the session goes on at Before and
	// Answered; at Sent the server's own answer follows.
	Text string
	Then func() // called when the fault has happened; it must not wait
}

// An armed fault waits on one connection.
type armed struct {
	Fault
	commands, replies int // since the fault was armed
}

// onCommand counts a command and reports whether the fault happens at it.
func (a *armed) onCommand(line string) bool {
	verb, _, _ := strings.Cut(line, " ")
	if a == nil || a.Command == 0 || a.Verb != "" && !strings.EqualFold(a.Verb, verb) {
		return false
	}
	a.commands++
	return a.commands == a.Command
}

// onReply counts bytes that are about to pass, and returns how many of them may still pass.
func (a *armed) onReply(n int) (pass int, hit bool) {
	if a == nil || a.Replies == 0 {
		return n, false
	}
	a.replies += n
	if a.replies < a.Replies {
		return n, false
	}
	return n - (a.replies - a.Replies), true
}

// immediate reports whether a fault waits for nothing.
func (f Fault) immediate() bool { return f.Command == 0 && f.Replies == 0 }

// act makes a fault happen; reply is the reply that the client does not get. It returns false if
// nothing passes any more. The caller holds the proxy's mu.
func (l *link) act(f Fault, reply []byte) bool {
	if f.Then != nil {
		defer f.Then()
	}
	switch f.Do {
	case Stall:
		l.silent = true
		return false
	case Reply:
		_, _ = io.WriteString(l.client, f.Text+"\r\n") // the client may have left
		if !strings.HasPrefix(f.Text, "421") {
			return true
		}
	case Truncate:
		_, _ = l.client.Write(reply[:len(reply)/2])
	case Reset:
		l.linger(0)
	}
	l.close()
	return false
}
