package s3server

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"locksmith/test/lab"
)

// Bucket is the name of the bucket that every server has.
const Bucket = "bucket"

// A Server is one store, or one gateway to what several may serve.
type Server struct {
	Endpoint string // http://127.0.0.1:port
	Dir      string // the directory that it serves; "" if it keeps everything in memory

	t       testing.TB
	kind    string
	program string
	port    int
	log     string // a file
	users   string // a directory; "": there is the one user only
	run     *lab.Process
}

// Start starts a server of a kind, with an empty bucket. It runs until the test ends.
func Start(t testing.TB, kind string) *Server {
	t.Helper()
	switch kind {
	case Embedded:
		return embedded(t, kind, nil)
	case Careless:
		return embedded(t, kind, ignoreCondition)
	case Racing:
		return embedded(t, kind, lookThenWrite)
	}
	return start(t, kind, withBucket(t), "")
}

// withBucket returns a directory with an empty bucket.
func withBucket(t testing.TB) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, Bucket), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Beside starts another server that serves the same directory.
func (s *Server) Beside() *Server {
	s.t.Helper()
	return start(s.t, s.kind, s.Dir, s.users)
}

// embedded starts gofakes3, perhaps with a flaw.
func embedded(t testing.TB, kind string, flaw func(http.Handler) http.HandlerFunc) *Server {
	t.Helper()
	memory := s3mem.New()
	if err := memory.CreateBucket(Bucket); err != nil {
		t.Fatal(err)
	}
	var handler http.Handler = gofakes3.New(memory).Server()
	if flaw != nil {
		handler = flaw(handler)
	}
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return &Server{Endpoint: s.URL, t: t, kind: kind}
}

func start(t testing.TB, kind, dir, users string) *Server {
	t.Helper()
	port := lab.ReservePort(t)
	s := &Server{
		Endpoint: "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), Dir: dir,
		t: t, kind: kind, program: kinds[kind].program(t, kind), port: port, log: filepath.Join(t.TempDir(), "log"), users: users,
	}
	s.Restart()
	if kinds[kind].makesBucket {
		s.makeBucket()
	}
	return s
}

// Stop kills the server with -9, in the middle of whatever it does.
func (s *Server) Stop() { s.run.Kill() }

// Restart starts the server again, and returns when it answers.
func (s *Server) Restart() {
	s.t.Helper()
	log, err := os.OpenFile(s.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		s.t.Fatal(err)
	}
	defer log.Close()
	cmd := exec.Command(s.program, kinds[s.kind].arguments(s.port, s.Dir)...)
	cmd.Env = append(Foreign(), "ROOT_ACCESS_KEY="+access, "ROOT_SECRET_KEY="+secret, "VGW_IAM_DIR="+s.users)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = diesWithUs()
	s.run = lab.Start(s.t, cmd)
	lab.Eventually(s.t, s.kind+" answers, or has ended", func() bool {
		select {
		case <-s.run.Ended():
			return true
		default:
			return s.answers()
		}
	}, s.Said)
	if !s.answers() {
		s.t.Fatalf("%s has ended:\n%s", s.kind, s.Said())
	}
}

// answers reports whether the server gives any answer. To a request without a signature the
// answer is mostly a refusal.
func (s *Server) answers() bool {
	answer, err := http.Get(s.Endpoint)
	if err != nil {
		return false
	}
	_ = answer.Body.Close()
	return true
}

// makeBucket makes the bucket by a request. It is for servers that serve no directory and do not
// look at signatures.
func (s *Server) makeBucket() {
	s.t.Helper()
	r, err := http.NewRequest(http.MethodPut, s.Endpoint+"/"+Bucket, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	if _ = answer.Body.Close(); answer.StatusCode != http.StatusOK {
		s.t.Fatalf("%s makes no bucket: %s", s.kind, answer.Status)
	}
}

// Said returns what the server has said so far.
func (s *Server) Said() string {
	text, err := os.ReadFile(s.log)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// Address returns the address of a lock at an endpoint.
func Address(endpoint, prefix string) string {
	return fmt.Sprintf("s3://%s/%s?path=style&endpoint=%s", Bucket, prefix, url.QueryEscape(endpoint))
}
