//go:build unix

package s3

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"syscall"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"locksmith/backends/backend"
	"locksmith/test/backendtest"
)

// roundTrip is an HTTP client in place of the network.
type roundTrip func(*http.Request) (*http.Response, error)

// Do implements s3.HTTPClient.
func (f roundTrip) Do(r *http.Request) (*http.Response, error) { return f(r) }

// TestPatience: for each answer of a store, or none, whether the trouble may pass.
func TestPatience(t *testing.T) {
	fails := func(err error) func(*testing.T) backend.Backend {
		return func(t *testing.T) backend.Backend {
			l := mustOpen(t, addressAt("http://127.0.0.1:1"))
			real, failing := l.bucket.client, roundTrip(func(*http.Request) (*http.Response, error) { return nil, err })
			l.bucket.client = func() (*s3.Client, error) {
				c, err := real()
				if err != nil {
					return nil, err
				}
				return s3.New(c.Options(), func(o *s3.Options) { o.HTTPClient = failing }), nil
			}
			return l
		}
	}
	dials := func(err error) func(*testing.T) backend.Backend {
		return fails(&net.OpError{Op: "dial", Net: "tcp", Err: err})
	}
	answers := func(status int, body string) func(*testing.T) backend.Backend {
		return func(t *testing.T) backend.Backend {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(status)
				_, _ = w.Write([]byte(body))
			}))
			t.Cleanup(s.Close)
			return mustOpen(t, addressAt(s.URL))
		}
	}
	says := func(status int, code string) func(*testing.T) backend.Backend {
		return answers(status, "<Error><Code>"+code+"</Code><Message>because</Message></Error>")
	}
	for name, troubles := range map[string]map[backendtest.Trouble]func(*testing.T) backend.Backend{
		"connecting": {
			backendtest.Refused:    dials(os.NewSyscallError("connect", syscall.ECONNREFUSED)),
			backendtest.Reset:      fails(&net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}),
			backendtest.Silent:     fails(os.ErrDeadlineExceeded),
			backendtest.NoRoute:    dials(os.NewSyscallError("connect", syscall.EHOSTUNREACH)),
			backendtest.NameServer: dials(&net.DNSError{Err: "server misbehaving", Name: "host", IsTemporary: true}),
			backendtest.NoSuchHost: dials(&net.DNSError{Err: "no such host", Name: "host", IsNotFound: true}),
			backendtest.Untrusted: func(t *testing.T) backend.Backend {
				s := httptest.NewTLSServer(http.NotFoundHandler())
				t.Cleanup(s.Close)
				return mustOpen(t, addressAt(s.URL))
			},
		},
		"asking": {
			backendtest.Busy:      says(503, "SlowDown"),
			backendtest.Throttled: says(429, "TooManyRequests"),
			backendtest.Failing:   says(500, "InternalError"),
			backendtest.Foreign:   answers(200, "<html>welcome</html>"),
			backendtest.Forbidden: says(403, "AccessDenied"),
			backendtest.Wrong:     says(404, "NoSuchBucket"),
		},
		"asking what is before the store": {
			backendtest.Busy:      answers(503, "<html>Service Unavailable</html>"),
			backendtest.Failing:   answers(502, "Bad Gateway"),
			backendtest.Silent:    answers(504, "upstream request timeout"),
			backendtest.Forbidden: answers(401, ""),
			backendtest.Wrong:     says(301, "PermanentRedirect"),
		},
	} {
		t.Run(name, func(t *testing.T) { backendtest.Patience(t, troubles) })
	}
}
