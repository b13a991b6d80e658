// Command parent is a program that needs locks, again and again:
//
//	parent SOCKET NAME LOCK…
//
// It tells a recorder all it does, before or after it does it, in one packet each, and goes on
// when the recorder has answered:
//
//	hello NAME              answer: pause µs
//	want                    answer: go; then it asks for the locks
//	enter ID TOKENS         answer: stay µs; it is inside from then on
//	leave                   it is outside; answer: go; then it releases
//	lost NS                 the same, because it was told of a loss; NS: until then, by the
//	                        clock since boot, it ran well and did not know of the loss
//	free                    released; answer: pause µs
//	missed CODE TEXT        not held, or not released; answer: pause µs
//
// The answer end ends it, and so does the end of the recorder.
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"locksmith/backends/clock"
	"locksmith/client"
	"locksmith/protocol"
)

func main() {
	if len(os.Args) < 4 {
		fmt.Fprintln(os.Stderr, "usage: parent SOCKET NAME LOCK…")
		os.Exit(1)
	}
	p, err := connect(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "parent:", err)
		os.Exit(1)
	}
	p.pool.Size, _ = strconv.Atoi(os.Getenv("POOL"))
	pause := p.tell("hello", os.Args[2])
	for {
		time.Sleep(pause)
		p.tell("want")
		pause = p.hold(os.Args[3:])
	}
}

// A parent is at one end of a connection with the recorder.
type parent struct {
	conn    net.Conn
	answers chan string
	pool    client.Pool // of no size: it starts a process for each lock
}

func connect(socket string) (*parent, error) {
	conn, err := net.Dial("unixpacket", socket)
	if err != nil {
		return nil, err
	}
	p := &parent{conn: conn, answers: make(chan string)}
	go p.listen()
	return p, nil
}

// listen ends the process when the recorder ends, even while the process waits for a lock.
func (p *parent) listen() {
	buf := make([]byte, 100)
	for {
		n, err := p.conn.Read(buf)
		if err != nil || n == 0 || string(buf[:n]) == "end" {
			os.Exit(0)
		}
		p.answers <- string(buf[:n])
	}
}

// tell tells the recorder, and returns the time in the answer, if there is one.
func (p *parent) tell(words ...string) time.Duration {
	if _, err := p.conn.Write([]byte(strings.Join(words, " "))); err != nil {
		os.Exit(0)
	}
	_, micros, _ := strings.Cut(<-p.answers, " ")
	n, _ := strconv.Atoi(micros) // the answer go has no time
	return time.Duration(n) * time.Microsecond
}

// hold takes the locks once, and returns how long to pause.
func (p *parent) hold(locks []string) time.Duration {
	options := []client.Option{client.And(locks[1:]...)}
	if os.Getenv("MODE") == "shared" {
		options = append(options, client.Shared())
	}
	lock, err := p.pool.Acquire(context.Background(), locks[0], options...)
	if err != nil {
		return p.tell("missed", brief(err))
	}
	if err := p.work(lock); err != nil {
		return p.tell("missed", brief(err))
	}
	return p.tell("free")
}

// work is inside the lock, unless that was lost before.
func (p *parent) work(lock *client.Lock) error {
	if lock.Err() != nil {
		return errors.Join(lock.Err(), lock.Release())
	}
	lost := watch(lock)
	stay := time.NewTimer(p.tell("enter", lock.ID(), tokens(lock)))
	defer stay.Stop()
	select {
	case <-stay.C:
	case <-lock.Context().Done():
	}
	if lock.Context().Err() == nil {
		p.tell("leave")
	} else { // even if this process did not run until both had come
		p.tell("lost", strconv.FormatInt(int64(<-lost), 10))
	}
	return lock.Release()
}

const (
	// pulse is how often a parent checks that it runs.
	pulse = 50 * time.Millisecond
	// stall is how long the parent may not run before its own clock cannot warn it in time any
	// more.
	stall = 200 * time.Millisecond
)

// watch waits until the lock is lost. Then it sends until when this process ran well and did not
// know of the loss. That is now, unless the machine did not let the process run for a while
// before.
func watch(lock *client.Lock) <-chan time.Duration {
	last := make(chan time.Duration, 1)
	go func() {
		ticker := time.NewTicker(pulse)
		defer ticker.Stop()
		for ran := (clock.Boot{}).Now(); ; {
			if now := (clock.Boot{}).Now(); now-ran < stall {
				ran = now
			}
			if lock.Context().Err() != nil {
				last <- ran // nobody reads this if the lock was released
				return
			}
			select {
			case <-ticker.C:
			case <-lock.Context().Done():
			}
		}
	}()
	return last
}

func tokens(lock *client.Lock) string {
	var all []string
	for _, t := range lock.Tokens() {
		all = append(all, strconv.FormatUint(t, 10))
	}
	return strings.Join(all, ",")
}

// brief shortens a text for a packet. The code comes first.
func brief(err error) string {
	code := protocol.Code("none")
	if refused, ok := errors.AsType[*client.HelperError](err); ok {
		code = refused.Code
	} else if lost, ok := errors.AsType[*client.LostError](err); ok {
		code = lost.Code
	} else if _, ok := errors.AsType[*client.ProtocolError](err); ok {
		code = protocol.Internal
	}
	text := string(code) + " " + strings.ReplaceAll(err.Error(), "\n", "; ")
	return text[:min(len(text), 600)]
}
