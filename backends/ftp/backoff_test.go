package ftp

import (
	"context"
	"strings"
	"testing"
	"time"

	"locksmith/backends/mkdirlock"
)

// TestOverfull: what servers say when they are full, and what sounds like it.
func TestOverfull(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		code int
		text string
		want bool
	}{
		{421, "There are too many connected users, please try later.", true},                          // vsftpd
		{421, "There are too many connections from your internet address.", true},                     // vsftpd
		{530, "Sorry, the maximum number of clients (3) from your host are already connected.", true}, // ProFTPD
		{530, "Sorry, the maximum number of clients (3) for this user are already connected.", true},
		{530, "Sorry, the maximum number of hosts (3) for this user are already connected.", true},
		{530, "Sorry, the maximum number of connections (3) for your host are already connected.", true},
		{421, "50 users (the maximum) are already logged in, sorry", true}, // Pure-FTPd
		{421, "Too many connections (8) from this IP", true},               // Pure-FTPd
		{421, "I can't accept more than 3 connections as the same user", true},
		{421, "Sorry, but the load is too high", true},
		{421, "Too many connections. Service temporarily unavailable.", true}, // pyftpdlib
		{421, "Too many connections from the same IP address.", true},         // pyftpdlib
		{421, "Too many connections", true},                                   // inetutils, from our inetd
		{421, "Service not available, remote server has closed connection", true},
		{530, "Sorry, too many users", true},
		{530, "Too many concurrent logins", true},
		{450, "User limit exceeded", true},

		{530, "Too many failed login attempts", false},
		{530, "Too many failed logins from your host", false},
		{530, "User account locked", false},
		{530, "Account locked out: limit of logins exceeded", false},
		{530, "Too many authentication failures for this user", false},
		{421, "Too many authentication failures", false},       // Pure-FTPd
		{530, "Maximum login attempts. Disconnecting.", false}, // pyftpdlib
		{530, "Too many bad passwords, your host is blocked", false},
		{530, "Your connection is banned: too many tries", false},
		{530, "Login incorrect.", false},
		{530, "Maximum password age exceeded for user", false},
		{331, "Password required, 3 connections of the maximum", false},
		{230, "You are one of the maximum of 50 users", false},
	} {
		if got := overfull(tt.code, tt.text); got != tt.want {
			t.Errorf("%d %s: %v", tt.code, tt.text, got)
		}
	}
}

func (f *fake) sessions() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.session
}

// pass lets time pass that nobody waits for.
func (m *manual) pass(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now += d
}

// TestRefusalIsRemembered: a password that was refused is not tried again and
// again, by no connection of the lock, until a log in works.
func TestRefusalIsRemembered(t *testing.T) {
	t.Parallel()
	f, m := startFake(t).when("PASS", says("530 Login incorrect.")), &manual{}
	holder := f.dir()
	holder.server.backoff.clock = m
	waiter := holder.server.newDir()
	t.Cleanup(waiter.Close)
	refused := 0
	for _, silence := range []time.Duration{30, 60, 120, 240, 480, 600, 600} {
		refused++
		for range 3 {
			for _, d := range []*Dir{holder, waiter} {
				if err := d.Mkdir(soon(t), "L"); come(err) != "permission" || !strings.Contains(err.Error(), "Login incorrect") {
					t.Error(err)
				}
			}
		}
		if f.sessions() != refused {
			t.Fatalf("%d sessions, want %d", f.sessions(), refused)
		}
		m.pass(silence*time.Second - 1)
		if err := waiter.Mkdir(soon(t), "L"); come(err) != "permission" || f.sessions() != refused {
			t.Errorf("too early: %v", err)
		}
		m.pass(1)
	}
	f.when("PASS", (*talk).obey)
	for _, d := range []*Dir{holder, waiter} {
		if err := d.Mkdir(soon(t), "L"); err != nil {
			t.Error(err)
		}
	}
	f.when("PASS", says("530 Login incorrect."))
	holder.drop()
	if err := holder.Mkdir(soon(t), "L"); come(err) != "permission" {
		t.Error(err)
	}
	m.pass(30 * time.Second) // as the first time
	f.when("PASS", (*talk).obey)
	if err := holder.Mkdir(soon(t), "L"); err != nil {
		t.Error(err)
	}
}

// TestPauses: a server that is full, or away, is asked less and less often.
func TestPauses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		shut func(*fake)
		want string
	}{
		"full":         {func(f *fake) { f.when(greeting, says("421 Too many connections")) }, "busy"},
		"full by PASS": {func(f *fake) { f.when("PASS", says("530 Sorry, too many users")) }, "busy"},
		"full by MKD":  {func(f *fake) { f.when("MKD", says("421 Too many connections")) }, "busy"},
		"away":         {func(f *fake) { f.listener.Close() }, "unreachable"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, m := startFake(t), &manual{}
			tt.shut(f)
			d := f.dir()
			d.server.backoff.clock = m
			if err := d.Mkdir(soon(t), "L"); come(err) != tt.want {
				t.Fatal(err)
			}
			for _, pause := range []time.Duration{1000, 1500, 2250} {
				pause *= time.Millisecond
				if name == "full by MKD" {
					pause = time.Second // since it let us in
				}
				asked := f.sessions()
				result := make(chan error)
				go func() { result <- d.Mkdir(soon(t), "L") }()
				m.advance(t, m.Now()+pause, pause-1)
				if f.sessions() != asked {
					t.Error("it did not wait")
				}
				m.advance(t, m.Now()+1, 1)
				if err := <-result; come(err) != tt.want {
					t.Error(err)
				}
			}
		})
	}
}

// TestPauseEnds: with the context, at once, and its error still says why; and
// with a session that begins, for good.
func TestPauseEnds(t *testing.T) {
	t.Parallel()
	f, m := startFake(t).when(greeting, says("421 Too many connections")), &manual{}
	d := f.dir()
	d.server.backoff.clock = m
	if err := d.Mkdir(soon(t), "L"); come(err) != "busy" {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(soon(t))
	time.AfterFunc(20*time.Millisecond, cancel)
	begun := time.Now()
	err := d.Mkdir(ctx, "L")
	if come(err) != "over" || !strings.Contains(err.Error(), mkdirlock.ErrBusy.Error()) || time.Since(begun) > late {
		t.Errorf("after %v: %v", time.Since(begun), err)
	}
	m.pass(time.Second)
	f.when(greeting, (*talk).obey)
	if err := d.Mkdir(soon(t), "L"); err != nil {
		t.Error(err)
	}
	d.drop()
	if err := d.Mkdir(soon(t), "L"); err != nil || f.sessions() != 3 {
		t.Errorf("%d sessions: %v", f.sessions(), err)
	}
}

// TestLongNames: a name that holds a record does not hide what is said about it.
func TestLongNames(t *testing.T) {
	t.Parallel()
	long := "x." + strings.Repeat("Record", 30) + ".the-end"
	f := startFake(t)
	refuse := func(c *talk) { c.say("550 /dir/L/" + long + ": File exists, " + long) }
	for _, verb := range []string{"MKD", "RMD", "RNFR", "NLST"} {
		f.when(verb, refuse)
	}
	d := f.dir()
	_, listed := d.List(soon(t), "L/"+long)
	for _, err := range []error{d.Mkdir(soon(t), "L/"+long), d.Rmdir(soon(t), "L/"+long), d.Rename(soon(t), "L/"+long, "L/"+long), listed} {
		if come(err) != "refused" || strings.Contains(err.Error(), strings.Repeat("Record", 5)) ||
			strings.Count(err.Error(), "/dir/L/x.RecordRecordRecord….the-end") < 1 || !strings.Contains(err.Error(), "File exists") {
			t.Error(err)
		}
	}
	for name, want := range map[string]string{
		strings.Repeat("a", 60):             strings.Repeat("a", 60),
		strings.Repeat("é", 31):             strings.Repeat("é", 10) + "…" + strings.Repeat("é", 4),
		"a" + strings.Repeat("é", 30) + "a": "a" + strings.Repeat("é", 9) + "…" + strings.Repeat("é", 3) + "a",
	} {
		if got := shortPath("/b/" + name + "/c"); got != "/b/"+want+"/c" {
			t.Errorf("%s: %s", name, got)
		}
	}
}
