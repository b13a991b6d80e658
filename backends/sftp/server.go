//go:build unix

package sftp

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/servers"
	"locksmith/protocol"
)

// A server is where a lock is, and how to get there.
type server struct {
	address backend.Address
	access  backend.Access
	backoff *servers.Backoff
	oldSSH  atomic.Bool // its ssh does not know newerOption
	// dialTime is how long it may take to connect and log in.
	dialTime time.Duration
	start    func(command, args, env []string) (transport, error) // an ssh
}

// How long a server may take. Requests are small.
const (
	dialTime             = 30 * time.Second
	minAnswer, maxAnswer = time.Second, 10 * time.Second
	// silence is after how long without a word from the server ssh asks whether it is there, and
	// how long ssh tries to reach it.
	silence = 10 * time.Second
)

// answerTime is how long the holder of a lock waits for an answer. After it there must be time
// for another connection and another heartbeat.
func answerTime(lease, least time.Duration) time.Duration { return min(max(lease/6, least), maxAnswer) }

func newServer(a backend.Address, access backend.Access) (*server, error) {
	s := &server{address: a, access: access, backoff: servers.NewBackoff(), dialTime: dialTime, start: startSSH}
	if host, _ := hostPort(a); strings.HasPrefix(host, "-") || strings.HasPrefix(a.User, "-") {
		return nil, s.address.Name().Failure(protocol.Usage, "read address", errors.New("the host's or the user's name begins with a hyphen"), "correct it")
	}
	return s, nil
}

// command is the ssh to run, with its own first arguments.
func (s *server) command() []string {
	if command := strings.Fields(s.access.SSH); len(command) > 0 {
		return command
	}
	return []string{"ssh"}
}

// dial connects and logs in. After a failure the next dial begins later, or fails in the same way
// (servers.Backoff). Its errors wrap *backend.Error, or ctx's.
func (s *server) dial(ctx context.Context) (*conn, error) {
	return servers.Dial(ctx, s.backoff, s.connect)
}

// firstBusyPause is the least pause before a server that takes no more connections is tried
// again: until others have logged in.
const firstBusyPause = 100 * time.Millisecond

// connect tries again while the server is busy.
func (s *server) connect(ctx context.Context) (*conn, error) {
	begun := time.Now()
	for pause := firstBusyPause; ; pause = min(2*pause, 2*time.Second) {
		c, err := s.dialOnce(ctx)
		busy := errors.Is(err, dirs.ErrBusy) && time.Since(begun) <= s.dialTime
		if busy {
			_ = clock.Pause(ctx, pause+rand.N(pause))
		}
		switch {
		case err == nil:
			return c, nil
		case ctx.Err() != nil:
			host, _ := hostPort(s.address)
			return nil, s.address.Name().Failure(protocol.Unreachable, "connect to "+host, ctx.Err(), servers.TryAgain)
		case !busy:
			return nil, err
		}
	}
}

func (s *server) dialOnce(ctx context.Context) (*conn, error) {
	password, source, err := servers.Password(s.address, s.access)
	if err != nil {
		return nil, err
	}
	env := os.Environ()
	var offered *answerer
	if password != "" {
		offered, err = answerPassword(s.address, password, source)
		if err != nil {
			return nil, s.address.Name().Failure(protocol.Internal, "offer the password to ssh", err, "let this user write to "+os.TempDir())
		}
		defer offered.close()
		env = offered.env()
	}
	old := s.oldSSH.Load()
	t, err := s.start(s.command(), arguments(s.address, password == "", old), env)
	if err != nil {
		return nil, s.address.Name().Failure(protocol.Config, "run ssh", err, "install OpenSSH's client, or name another command in $LOCKSMITH_SSH or in a profile")
	}
	defer onEnd(ctx, t.Kill)()
	c, err := newConn(t, s.dialTime)
	var lost *lostError
	switch {
	case err == nil:
		return c, nil
	case !old && errors.As(err, &lost) && knowsNot(lost.said, newerOption):
		s.oldSSH.Store(true)
		return s.dialOnce(ctx)
	}
	return nil, s.refused(err, offered)
}

// knowsNot reports whether ssh refused an option of ours.
func knowsNot(said, option string) bool {
	name, _, _ := strings.Cut(option, "=")
	return strings.Contains(strings.ToLower(said), "bad configuration option: "+strings.ToLower(name))
}
