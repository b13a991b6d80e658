//go:build unix

package sftp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/clock"
	"locksmith/backends/generation/symlinks"
	"locksmith/backends/shelf"
	"locksmith/test/backendtest"
)

// A recording is a transport on which the server's replies are fixed, whatever is asked.
type recording struct {
	io.Reader
	killed chan struct{}
}

func (r *recording) Write(b []byte) (int, error) { return len(b), nil }
func (r *recording) Why() string                 { return "" }

func (r *recording) Kill() {
	select {
	case <-r.killed:
	default:
		close(r.killed)
	}
}

// A leaping clock leaves no time for pauses between connections.
type leaping struct {
	clock.Boot
	now time.Duration
}

func (c *leaping) Now() time.Duration {
	c.now += time.Hour
	return c.now
}

// calls makes one call of each kind, whatever its result.
func calls(s *session) {
	ctx := context.Background()
	_, _ = s.lstat(ctx, "a")
	_, _ = s.list(ctx, "a")
	_, _ = s.readlink(ctx, "a")
	_, _ = s.setTime(ctx, "a", 1, true)
	for _, call := range []func() error{
		func() error { return s.mkdir(ctx, "a") }, func() error { return s.rmdir(ctx, "a") },
		func() error { return s.unlink(ctx, "a") }, func() error { return s.symlink(ctx, "t", "a") },
		func() error { return s.rename(ctx, "a", "b") },
	} {
		_ = call()
	}
}

// FuzzReplies: whatever a server says, every call ends, with an error or a result, and nothing
// panics.
func FuzzReplies(f *testing.F) {
	hello := string(newPacket(typeVersion).uint32(version).string(posixRename).string("1").bytes())
	f.Add([]byte(hello))
	f.Add([]byte("Welcome to this server\n"))
	f.Add([]byte(hello + string(newPacket(typeAttrs).uint32(1).attrs(attrs{flags: hasMode, mode: modeDir}).bytes())))
	f.Add([]byte(hello + string(newPacket(typeStatus).uint32(1).uint32(statusFailure).bytes())))
	f.Add([]byte(hello + string(newPacket(typeName).uint32(1).uint32(1<<31).bytes())))
	f.Add([]byte(hello + string(newPacket(typeAttrs).uint32(1).uint32(hasExtended).uint32(1<<31).bytes())))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, typeVersion})
	f.Fuzz(func(t *testing.T, said []byte) {
		s, err := newServer(testAddress, backend.Access{})
		if err != nil {
			t.Fatal(err)
		}
		s.start = func(_, _, _ []string) (transport, error) {
			return &recording{bytes.NewReader(said), make(chan struct{})}, nil
		}
		s.backoff.Clock = &leaping{}
		session := s.newSession("lock")
		calls(session)
		session.close()
	})
}

// TestSilence: a server that does not answer is given up in time, and the error says that the
// request may have been executed.
func TestSilence(t *testing.T) {
	t.Parallel()
	f := startFake(t).when(func(r *asking) bool { return r.kind != typeLstat })
	s := f.server(t, testAddress).newSession("lock")
	defer s.close()
	s.answer = 10 * time.Millisecond
	if err := s.mkdir(t.Context(), "a"); !errors.Is(err, syscall.EIO) || backend.CodeOf(err) != "unreachable" || !strings.Contains(err.Error(), "no answer in time within 10ms; choose a longer lease") {
		t.Error(err)
	}
	s.answer = time.Minute
	if _, err := s.lstat(t.Context(), "."); !errors.As(err, new(*statusError)) {
		t.Error("another connection does not work:", err)
	}
	if f.sessions != 2 {
		t.Errorf("after a silence there were %d connections, want 2", f.sessions)
	}
}

// TestOtherReply: a reply of another kind than a status is no success, though it begins with the
// number of one.
func TestOtherReply(t *testing.T) {
	t.Parallel()
	f := startFake(t).when(func(r *asking) bool {
		if r.kind == typeMkdir {
			r.to(newPacket(typeAttrs).uint32(r.id).uint32(statusOK))
		}
		return r.kind == typeMkdir
	})
	s := f.server(t, testAddress).newSession(".")
	defer s.close()
	if err := s.mkdir(t.Context(), "a"); err == nil {
		t.Error("the server answers MKDIR with attributes, and mkdir reports success: look at statusOf (status.go)")
	}
}

// TestContext: a call ends with its context, and its error says that it may have been executed.
func TestContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	f := startFake(t).when(func(r *asking) bool {
		cancel()
		return r.kind == typeMkdir
	})
	s := f.server(t, testAddress).newSession("lock")
	defer s.close()
	if err := s.mkdir(ctx, "a"); !errors.Is(err, context.Canceled) || !errors.Is(err, syscall.EIO) {
		t.Error(err)
	}
}

// TestLateContext: a context that ends when its call is just over does not end the next call.
func TestLateContext(t *testing.T) {
	t.Parallel()
	asked := make(chan context.CancelFunc, 1)
	f := startFake(t).when(func(*asking) bool {
		select {
		case cancel := <-asked:
			cancel()
		default:
		}
		return false
	})
	s := f.server(t, testAddress).newSession(".")
	defer s.close()
	for i := range 300 {
		ctx, cancel := context.WithCancel(t.Context())
		asked <- cancel
		_, _ = s.lstat(ctx, ".") // the call may have succeeded, or not
		if err := s.mkdir(t.Context(), strconv.Itoa(i)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNotRepeated: a request that changes something, and was sent, is not repeated; one that only
// looks is.
func TestNotRepeated(t *testing.T) {
	t.Parallel()
	asked := map[byte]int{}
	f := startFake(t).when(func(r *asking) bool {
		asked[r.kind]++
		if asked[r.kind] == 1 {
			_ = r.conn.Close()
		}
		return asked[r.kind] == 1
	})
	s := f.server(t, testAddress).newSession(".")
	defer s.close()
	if err := s.mkdir(t.Context(), "a"); !errors.Is(err, syscall.EIO) || asked[typeMkdir] != 1 {
		t.Errorf("mkdir without an answer returns %v after %d requests; want EIO after 1", err, asked[typeMkdir])
	}
	if _, err := s.lstat(t.Context(), "."); err != nil || asked[typeLstat] != 2 {
		t.Errorf("lstat returns %v after %d requests; want success after 2", err, asked[typeLstat])
	}
}

// TestNoEnd: a listing without an end ends the connection.
func TestNoEnd(t *testing.T) {
	t.Parallel()
	f := startFake(t).when(func(r *asking) bool {
		if r.kind == typeReaddir {
			r.to(newPacket(typeName).uint32(r.id).uint32(0))
		}
		return r.kind == typeReaddir
	})
	s := f.server(t, testAddress).newSession(".")
	defer s.close()
	if _, err := s.list(t.Context(), "."); !errors.Is(err, errMalformed) {
		t.Error(err)
	}
}

// TestSlowListing: a server that lists name by name, each in time, is given up all the same, and
// not asked again.
func TestSlowListing(t *testing.T) {
	dir := startFake(t).dir
	synctest.Test(t, func(t *testing.T) {
		opened := 0
		f := (&fake{dir: dir}).when(func(r *asking) bool {
			switch r.kind {
			case typeOpendir:
				opened++
			case typeReaddir:
				time.Sleep(3 * time.Second)
				r.to(newPacket(typeName).uint32(r.id).uint32(1).string("n").string("").attrs(attrs{}))
				return true
			}
			return false
		})
		s := f.server(t, testAddress).newSession(".")
		defer time.Sleep(time.Minute) // the server ends, too
		defer s.close()
		begun := time.Now()
		_, err := s.list(t.Context(), ".")
		if took := time.Since(begun); !errors.As(err, new(backend.TooLongError)) || backend.CodeOf(err) != "cannot_create" || opened != 1 || took > backend.MaxTime+20*time.Second {
			t.Errorf("a slow listing ends with %v after %v, asked for %d times", err, took, opened)
		}
	})
}

// TestCodes: after a refusal whose code may mean anything, the call looks what is there.
func TestCodes(t *testing.T) {
	t.Parallel()
	vague := startFake(t).when(func(r *asking) bool {
		switch r.kind {
		case typeMkdir, typeRmdir, typeSymlink, typeRemove, typeReadlink, typeSetstat, typeExtended, typeOpendir:
			r.code([]uint32{4, 5, 11, 99}[r.id%4])
			return true
		}
		return false
	})
	s := vague.server(t, testAddress).newSession(".")
	defer s.close()
	ctx := t.Context()
	plain := startFake(t)
	plain.dir = vague.dir
	made := plain.server(t, testAddress).newSession(".")
	defer made.close()
	for _, err := range []error{made.mkdir(ctx, "there"), made.symlink(ctx, "to", "link")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	_, read := s.readlink(ctx, "there")
	_, unread := s.readlink(ctx, "gone")
	_, set := s.setTime(ctx, "gone", 1, true)
	_, denied := s.setTime(ctx, "there", 1, true)
	_, listed := s.list(ctx, "link")
	for name, c := range map[string]struct{ got, want error }{
		"mkdir, there":       {s.mkdir(ctx, "there"), syscall.EEXIST},
		"mkdir, no parent":   {s.mkdir(ctx, "none/a"), syscall.ENOENT},
		"mkdir, free":        {s.mkdir(ctx, "free"), syscall.ENOSPC},
		"symlink, there":     {s.symlink(ctx, "to", "link"), syscall.EEXIST},
		"rmdir, gone":        {s.rmdir(ctx, "gone"), syscall.ENOENT},
		"rmdir, a link":      {s.rmdir(ctx, "link"), syscall.ENOTDIR},
		"remove, gone":       {s.unlink(ctx, "gone"), syscall.ENOENT},
		"remove, there":      {s.unlink(ctx, "link"), syscall.EPERM},
		"remove a directory": {s.unlink(ctx, "there"), syscall.EISDIR},
		"readlink, no link":  {read, syscall.EINVAL},
		"readlink, gone":     {unread, syscall.ENOENT},
		"touch, gone":        {set, syscall.ENOENT},
		"touch, there":       {denied, syscall.EPERM},
		"list a link":        {listed, syscall.ENOTDIR},
		"rename, gone":       {s.rename(ctx, "gone", "x"), syscall.ENOENT},
		"rename, onto":       {s.rename(ctx, "link", "there"), syscall.ENOTEMPTY},
	} {
		if !errors.Is(c.got, c.want) {
			t.Errorf("%s is told as %v, want %v", name, c.got, c.want)
		}
	}
}

// TestLostWhileWaiting: a try loses its connection, whichever request was on the way. The waiter
// goes on, and gets the lock in the end.
func TestLostWhileWaiting(t *testing.T) {
	t.Parallel()
	for lose := 1; ; lose++ {
		f := startFake(t)
		h := backendtest.MustAcquire(t, attemptOf(t, f.open(t)))
		waiter := attemptOf(t, f.open(t))
		backendtest.MustBeHeld(t, waiter)
		backendtest.MustRelease(t, h)
		n := 0
		f.when(func(r *asking) bool {
			if n++; n == lose {
				_ = r.conn.Close()
			}
			return false // the server executes it
		})
		_, err := waiter.Try(t.Context())
		if err == nil && n < lose {
			return // each request was lost once
		}
		if held := (*backend.HeldError)(nil); err != nil && !errors.As(err, &held) && !backend.Passes(err) {
			t.Fatalf("with request %d lost, Try returns %v", lose, err)
		}
		if err != nil {
			backendtest.MustRelease(t, backendtest.MustAcquire(t, waiter))
		}
	}
}

// TestRecordLost: a holder has its record, even if the request to make it was lost, or the
// answer.
func TestRecordLost(t *testing.T) {
	t.Parallel()
	for _, executed := range []bool{true, false} {
		lost := false
		f := startFake(t).when(func(r *asking) bool {
			in := r.body
			in.string()
			if lost || r.kind != typeSymlink || !strings.Contains(in.string(), "/R/i.") {
				return false
			}
			lost = true
			_ = r.conn.Close()
			return !executed
		})
		h := backendtest.MustAcquire(t, attemptOf(t, f.open(t)))
		r, err := f.open(t).Read(t.Context())
		if err != nil || !lost || len(r.Holders) != 1 || r.Holders[0].Record == nil {
			t.Errorf("the request for the record was lost, executed: %t; Read sees %+v, %v", executed, r, err)
		}
		backendtest.MustRelease(t, h)
	}
}

// TestRecordAskedAgain: the answer to a request for a record is lost. The record is asked for again,
// and then is there: that is a success.
func TestRecordAskedAgain(t *testing.T) {
	t.Parallel()
	asked := 0
	f := startFake(t).when(func(r *asking) bool {
		if r.kind == typeSymlink {
			if asked++; asked == 1 {
				_ = r.conn.Close()
			}
		}
		return false // the server executes it
	})
	d := newSymlinkDir(f.server(t, testAddress).newSession("."), false)
	defer d.close()
	backendtest.MustWork(t, d.Prepare(t.Context()))
	if err := d.Symlink(t.Context(), "to", symlinks.Reservations+"/i.1"); err != nil || asked != 2 {
		t.Errorf("the answer is lost, though the link was made: Symlink returns %v after %d requests, want no error after 2: look at Symlink (symlinkdir.go)", err, asked)
	}
}

// TestSilentConnection: a heartbeat that gets no answer ends early enough for another one over
// another connection, and so does a heartbeat that cannot connect.
func TestSilentConnection(t *testing.T) {
	t.Parallel()
	f := startFake(t)
	l := f.open(t)
	dir := l.dirs()
	h := backendtest.MustAcquire(t, attemptOf(t, l))
	var silent atomic.Bool
	silent.Store(true)
	ctx, cancel := context.WithCancel(t.Context())
	f.when(func(*asking) bool {
		cancel()
		return silent.Load()
	})
	if err := h.Heartbeat(ctx); !errors.Is(err, syscall.EIO) {
		t.Error(err)
	}
	silent.Store(false)
	backendtest.MustWork(t, h.Heartbeat(t.Context()))
	dir().hangUp()
	dialing, stop := context.WithCancel(t.Context())
	dir().server.start = func(_, _, _ []string) (transport, error) {
		stop()
		ours, _ := net.Pipe() // nobody answers at the other end
		return &piped{Conn: ours}, nil
	}
	if err := h.Heartbeat(dialing); backend.CodeOf(err) != "unreachable" {
		t.Error(err)
	}
}

// TestCallsEndInTime: a holder's calls end with their context, though the server says nothing.
func TestCallsEndInTime(t *testing.T) {
	for name, call := range map[string]func(context.Context, *lock, backend.Hold) error{
		"tend":        func(ctx context.Context, _ *lock, h backend.Hold) error { return h.Tend(ctx) },
		"lastSuccess": func(ctx context.Context, l *lock, h backend.Hold) error { _, err := shelf.Last(ctx, l, h); return err },
		"success":     func(ctx context.Context, l *lock, h backend.Hold) error { return shelf.Record(ctx, l, h) },
		"remove":      func(ctx context.Context, l *lock, h backend.Hold) error { return l.Remove(ctx, h) },
	} {
		dir := t.TempDir()
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for asked := 0; ; asked++ { // the server answers so many of its requests
					f := &fake{dir: filepath.Join(dir, strconv.Itoa(asked)), extensions: []string{posixRename, "1"}, page: 2}
					backendtest.MustWork(t, os.Mkdir(f.dir, 0o777))
					l := f.open(t)
					dir := l.dirs()
					h := backendtest.MustAcquire(t, attemptOf(t, l))
					opened := dir()
					var left atomic.Int64
					left.Store(int64(asked))
					f.when(func(*asking) bool { return left.Add(-1) < 0 })
					ctx, cancel := context.WithTimeout(t.Context(), time.Second)
					begun := time.Now()
					err := call(ctx, l, h)
					took := time.Since(begun)
					cancel()
					opened.close()
					time.Sleep(time.Minute) // the server ends, too
					switch {
					case left.Load() >= 0:
						backendtest.MustWork(t, err)
						return // all requests were answered
					case asked > 50, took > time.Second: // later requests only tidy up, and may fail
						t.Errorf("silent after %d requests: %v after %v", asked, err, took)
						return
					}
				}
			})
		})
	}
}
