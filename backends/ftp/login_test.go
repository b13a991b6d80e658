package ftp

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/servers"
)

// TestLogin: why a server does not let us in is understood, and no server can make us tell the
// password.
func TestLogin(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, verb, reply, want, hint string }{
		{"wrong password", "PASS", "530 Login incorrect for " + secret, "permission", "at the password, which is from"},
		{"wrong user", "USER", "530 Not you, " + secret, "permission", "user in the address"},
		{"account", "USER", "332 Which account?", "permission", ""},
		{"too many by greeting", greeting, "421 Too many connections (8) from this IP", "busy", ""},
		{"too many by code of another kind", greeting, "530 Sorry, too many users", "busy", ""},
		{"too many by USER", "USER", "421 There are too many connected users", "busy", ""},
		{"too many by PASS", "PASS", "530 Sorry, the maximum number of clients (3) are already connected", "busy", ""},
		{"too many by PASS with 421", "PASS", "421 50 users (the maximum) are already logged in", "busy", ""},
		{"too many failures by PASS", "PASS", "530 Account locked: too many failed login attempts", "permission", "at the password, which is from"},
		{"too many failures by 421", "PASS", "421 Too many authentication failures", "unreachable", ""},
		{"not at the moment by USER", "USER", "450 The user database is away", "unreachable", ""},
		{"not at the moment by PASS", "PASS", "430 Come back later", "unreachable", ""},
		{"wrong password by 430", "PASS", "430 Invalid username or password", "permission", "at the password, which is from"},
		{"not at the moment by greeting", greeting, "450 The disk is full", "unreachable", "try again"},
		{"full without words", greeting, "421 ", "busy", ""},
		{"later", greeting, "120 ready in 5 minutes", "busy", ""},
		{"no FTP", greeting, "SSH-2.0-OpenSSH_9.2", "unreachable", ""},
		{"no FTP but numbers", greeting, "554 no SMTP service here", "unreachable", "port"},
		{"TLS by USER", "USER", "530 Non-anonymous sessions must use encryption.", "permission", "ftps:"},
		{"TLS by PASS", "PASS", "550 SSL/TLS required on the control channel", "permission", "ftps:"},
		{"TLS by 421", "USER", "421 Sorry, cleartext sessions are not accepted on this server.", "permission", "ftps:"},
		{"TYPE refused", "TYPE", "500 what, " + secret, "unreachable", ""},
		{"garbage with the password", "PASS", "no! " + secret, "unreachable", ""},
		{"FEAT at the end", "FEAT", "421 we close", "busy", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := startFake(t).when(tt.verb, func(c *talk) {
				c.say(tt.reply)
				if strings.HasPrefix(tt.reply, "421") {
					c.cut()
				}
			})
			start := time.Now()
			err := f.dir().Mkdir(soon(t), "L")
			if time.Since(start) > late {
				t.Error("it waited for more")
			}
			var e *backend.Error
			if come(err) == "busy" && !errors.As(err, &e) {
				t.Error("no code:", err)
			}
			if got := come(err); got != tt.want || errors.As(err, &e) && !strings.Contains(e.Hint, tt.hint) {
				t.Errorf("%s; want %s; %v", got, tt.want, err)
			}
			silent(t, err)
		})
	}
}

// silent fails if an error tells the password, in any spelling.
func silent(t testing.TB, err error) {
	t.Helper()
	if err != nil && (strings.Contains(err.Error(), "s3cr3t") || strings.Contains(err.Error(), "word\"")) {
		t.Errorf("it tells the password: %v", err)
	}
}

// TestPasswordEcho: later replies do not make us tell the password either.
func TestPasswordEcho(t *testing.T) {
	t.Parallel()
	for _, reply := range []string{"550 " + secret, secret, "421 " + secret, "2" + secret} {
		f := startFake(t).when("MKD", says(reply)).when("STAT", says("211-"+secret+"\r\n211 "+secret))
		d := f.dir()
		err := d.Mkdir(soon(t), "L")
		if err == nil {
			t.Error("a refused command gives no error")
		}
		silent(t, err)
		session, err := d.Session(soon(t))
		if err != nil {
			t.Error(err)
		}
		silent(t, errors.New(fmt.Sprint(session)))
	}
}

func TestAnonymous(t *testing.T) {
	t.Parallel()
	f := startFake(t)
	d := f.dir(func(a *backend.Address, access *backend.Access) {
		a.User = ""
		access.Password = func(string, string) (string, string, error) { t.Error("asked for a password"); return "", "", nil }
	})
	if err := d.Mkdir(soon(t), "L"); err != nil {
		t.Error(err)
	}
	if got := append(f.sent("USER"), f.sent("PASS")...); !slices.Equal(got, []string{"1 USER anonymous", "1 PASS locksmith@"}) {
		t.Errorf("an address without a user sends %q, want the log in of anonymous", got)
	}
	f.when("PASS", says("530 no"))
	d.drop()
	if err := d.Mkdir(soon(t), "L"); come(err) != "permission" || !strings.Contains(err.Error(), "ftp://user@host/path") {
		t.Error(err)
	}
}

func TestNoPassword(t *testing.T) {
	t.Parallel()
	f := startFake(t).when("PASS", says("530 no"))
	unknown := func(_ *backend.Address, access *backend.Access) { access.Password = nil }
	err := f.dir(unknown).Mkdir(soon(t), "L")
	if come(err) != "permission" || !strings.Contains(err.Error(), "no password is known") || !strings.Contains(err.Error(), "machine 127.0.0.1 login lock") ||
		!strings.Contains(err.Error(), "password_file") || len(f.sent("PASS")) > 0 {
		t.Errorf("no password is known: Mkdir returns %v, and was sent %q; want an error that says where to put it, and no PASS", err, f.sent(""))
	}
	if err := f.when("USER", says("230 welcome")).dir(unknown).Mkdir(soon(t), "L"); err != nil {
		t.Error("a user without a password:", err)
	}
	broken := func(_ *backend.Address, access *backend.Access) {
		access.Password = func(string, string) (string, string, error) { return "", "", errors.New("cannot read it") }
	}
	if err := f.dir(broken).Mkdir(soon(t), "L"); come(err) != "config" {
		t.Error(err)
	}
}

// TestNoSecondCommand: nothing that we send can contain another command.
func TestNoSecondCommand(t *testing.T) {
	t.Parallel()
	f := startFake(t)
	for _, evil := range []string{"a\r\nDELE b", "a\nDELE b", "a\rDELE b", "a\x00DELE b", "\r\n", "a\r\n"} {
		d := f.dir(func(_ *backend.Address, access *backend.Access) {
			access.Password = func(string, string) (string, string, error) { return evil, "", nil }
		})
		if err := d.Mkdir(soon(t), "L"); come(err) != "config" {
			t.Errorf("the password %q is sent, or refused with the error %v; want one with code config", evil, err)
		}
		if _, err := newServer(backend.Address{Scheme: SchemePlain, Host: "h", User: evil, Path: "/L"}, backend.Access{}); come(err) != "usage" {
			t.Errorf("the user %q in an address gives the error %v, want one with code usage", evil, err)
		}
		if _, err := newServer(backend.Address{Scheme: SchemePlain, Host: "h", Path: "/" + evil}, backend.Access{}); come(err) != "usage" {
			t.Errorf("the path %q in an address gives the error %v, want one with code usage", evil, err)
		}
		d = f.dir()
		_, listed := d.List(soon(t), evil)
		_, told := d.Entries(soon(t), evil)
		for _, err := range []error{d.Mkdir(soon(t), evil), d.Rmdir(soon(t), evil), d.Rename(soon(t), evil, "b"), d.Rename(soon(t), "a", evil), listed, told} {
			if come(err) != "usage" {
				t.Errorf("a call with the name %q gives the error %v, want one with code usage", evil, err)
			}
		}
		if err := checkCommand([]byte("MKD " + evil + "\r\n")); err == nil {
			t.Errorf("the command MKD with the name %q may be sent, want that checkCommand refuses it", evil)
		}
	}
	for _, evil := range []string{"", "MKD a", "MKD a\n", "\r\n", "MKD a\r"} {
		if err := checkCommand([]byte(evil)); err == nil {
			t.Errorf("the command %q may be sent, want that checkCommand refuses what is not one line", evil)
		}
	}
	for _, line := range f.sent("") {
		if strings.Contains(line, "DELE") {
			t.Errorf("a name that somebody else chose made us send %q", line)
		}
	}
}

// TestLastGuard: the control connection itself sends no second command.
func TestLastGuard(t *testing.T) {
	t.Parallel()
	f := startFake(t)
	d := f.dir()
	if err := d.Mkdir(soon(t), "L"); err != nil {
		t.Fatal(err)
	}
	if _, err := d.conn.control.Write([]byte("NOOP\r\nDELE a\r\n")); !errors.As(err, new(*servers.UnsentError)) {
		t.Error(err)
	}
	if err := d.Mkdir(soon(t), "L/x.1"); err != nil || len(f.sent("NOOP"))+len(f.sent("DELE")) > 0 {
		t.Errorf("Mkdir returns %v, and was sent %q; want no error, and neither NOOP nor DELE", err, f.sent(""))
	}
}

// TestOverfull: what servers say when they are full, and similar texts that mean something else.
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
			t.Errorf("that %d %s is for too many clients: %v, want %v", tt.code, tt.text, got, tt.want)
		}
	}
}
