//go:build unix

package sftp

import (
	"net"
	"strings"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/test/backendtest"
)

// A hasty clock shortens pauses between connections: it runs a thousand times as fast as others.
type hasty struct{ clock.Runtime }

func (h hasty) Now() time.Duration { return 1000 * h.Runtime.Now() }

func (h hasty) NewTimer(d time.Duration) clock.Timer { return h.Runtime.NewTimer(d / 1000) }

// TestPatience: for each thing that ssh says when it does not connect, and each thing that a
// server then does, whether the trouble may pass.
func TestPatience(t *testing.T) {
	t.Parallel()
	// What no answer is taken for passes, too. For what lasts there must be an answer, and that may be
	// slow by chance.
	const impatient, patient = 100 * time.Millisecond, time.Minute
	connects := func(within time.Duration, start func() (transport, error)) func(*testing.T) backend.Backend {
		return func(t *testing.T) backend.Backend {
			l := startFake(t).open(t)
			l.server.dialTime = within
			l.server.backoff.Clock = hasty{}
			l.server.start = func(_, _, _ []string) (transport, error) { return start() }
			return l
		}
	}
	ends := func(within time.Duration, words string) func(*testing.T) backend.Backend {
		return connects(within, func() (transport, error) { return &piped{Conn: ended(), said: words + "\r\n"}, nil })
	}
	// ssh ends with these words.
	says := func(words string) func(*testing.T) backend.Backend { return ends(impatient, words) }
	answers := func(within time.Duration, hook func(*asking) bool) func(*testing.T) backend.Backend {
		return func(t *testing.T) backend.Backend {
			l := startFake(t).when(hook).open(t)
			l.leastAnswer = within
			l.server.backoff.Clock = hasty{}
			return l
		}
	}
	// Words as OpenSSH 9.2 says them.
	for name, troubles := range map[string]map[backendtest.Trouble]func(*testing.T) backend.Backend{
		"connecting": {
			backendtest.Refused:    says("ssh: connect to host h port 22: Connection refused"),
			backendtest.Reset:      says("kex_exchange_identification: read: Connection reset by peer\r\nConnection reset by 127.0.0.1 port 22"),
			backendtest.Silent:     says("ssh: connect to host h port 22: Connection timed out"),
			backendtest.NoRoute:    says("ssh: connect to host h port 22: No route to host"),
			backendtest.NameServer: says("ssh: Could not resolve hostname h: Temporary failure in name resolution"),
			backendtest.NoSuchHost: ends(patient, "ssh: Could not resolve hostname h: Name or service not known"),
			backendtest.Busy:       says("kex_exchange_identification: Connection closed by remote host\r\nConnection closed by 127.0.0.1 port 22"),
			backendtest.Throttled:  says("Connection timed out during banner exchange\r\nConnection to 127.0.0.1 port 22 timed out"),
			backendtest.Failing:    says("Connection to h closed by remote host."),
			backendtest.Foreign:    says("ssh_dispatch_run_fatal: Connection to 127.0.0.1 port 80: invalid format\r\nkex_exchange_identification: banner line contains invalid characters"),
			backendtest.Forbidden:  ends(patient, "u@h: Permission denied (publickey,password)."),
			backendtest.Untrusted:  ends(patient, "No ED25519 host key is known for h and you have requested strict checking.\r\nHost key verification failed."),
			backendtest.Wrong:      ends(patient, "subsystem request failed on channel 0"),
		},
		"greeting": {
			backendtest.Silent: connects(impatient, func() (transport, error) {
				ours, theirs := net.Pipe()
				go func() { _, _ = theirs.Read(make([]byte, 1<<10)) }()
				return &piped{Conn: ours}, nil
			}),
			backendtest.Foreign: connects(impatient, func() (transport, error) {
				return &recording{strings.NewReader("HTTP/1.1 200 OK\r\n\r\n"), make(chan struct{})}, nil
			}),
		},
		"locking": {
			backendtest.Silent: answers(impatient, func(r *asking) bool { return r.kind == typeMkdir }),
			backendtest.Reset: answers(impatient, func(r *asking) bool {
				_ = r.conn.Close()
				return true
			}),
			backendtest.Forbidden: answers(patient, func(r *asking) bool {
				if r.kind == typeMkdir {
					r.code(statusDenied)
				}
				return r.kind == typeMkdir
			}),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			backendtest.Patience(t, troubles)
		})
	}
}

// ended is a connection that has ended.
func ended() net.Conn {
	ours, theirs := net.Pipe()
	_ = theirs.Close()
	return ours
}
