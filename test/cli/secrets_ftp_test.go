//go:build unix

package cli

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"locksmith/test/ftpserver"
	"locksmith/test/lab"
)

// TestSecretsStaySecretFTP is for locks that need a password. The server repeats the password.
func TestSecretsStaySecretFTP(t *testing.T) {
	lab.NotShort(t, "starts servers")
	t.Parallel()
	for _, s := range secrets("127.0.0.1") {
		t.Run(s.about, func(t *testing.T) {
			t.Parallel()
			server := ftpserver.Start(t, "embedded", ftpserver.Options{})
			addr := talkative(t, server, server.Password)
			// A lock is made of directories; status tells what their names say.
			if err := os.WriteFile(filepath.Join(server.Dir, "file"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			grepForSecret(t, s.place(t, "ftp://alice@"+addr+"/lock"), server.Dir)
		})
	}
}

// TestSecretsInErrorsFTP: the password is wrong, or TLS fails before it is asked for.
func TestSecretsInErrorsFTP(t *testing.T) {
	lab.NotShort(t, "starts servers")
	t.Parallel()
	server := ftpserver.Start(t, "embedded", ftpserver.Options{})
	secure := ftpserver.Start(t, "embedded", ftpserver.Options{TLS: true})
	for _, s := range secrets("127.0.0.1") {
		for about, c := range map[string]struct {
			address string
			status  int
		}{
			"wrong":          {"ftp://alice@" + talkative(t, server, "not it") + "/lock", 77},
			"no TLS":         {"ftps://alice@" + talkative(t, server, server.Password) + "/lock", 69},
			"TLS not wanted": {"ftp://alice@" + secure.Addr + "/lock", 77},
			"unknown CA":     {"ftps://alice@" + secure.Addr + "/lock", 69},
		} {
			t.Run(s.about+", "+about, func(t *testing.T) {
				t.Parallel()
				p := s.place(t, c.address)
				events := filepath.Join(t.TempDir(), "events")
				for _, format := range []string{"text", "json"} {
					logs := []string{"--timeout", "0", "--log-level", "trace", "--log-format", format, "--events", events, p.lock}
					p.start(t, append([]string{"hold"}, logs...)).end(t, c.status)
					p.start(t, append(append([]string{"run"}, logs...), "--", "true")).end(t, c.status)
				}
				noSecret(t, "events", read(t, events))
				p.start(t, []string{"status", "--json", p.lock}).end(t, c.status)
			})
		}
	}
}

// talkative stands before a server. It sends the server our password and user instead of those
// that it gets, and adds to each answer what it got.
func talkative(t *testing.T, server *ftpserver.Server, password string) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	t.Cleanup(func() { l.Close(); all.Wait() })
	all.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { chat(client, server, password) })
		}
	})
	return l.Addr().String()
}

func chat(client net.Conn, server *ftpserver.Server, password string) {
	defer client.Close()
	up, err := net.Dial("tcp", server.Addr)
	if err != nil {
		return
	}
	defer up.Close()
	var mu sync.Mutex
	got := ""
	go func() {
		defer up.Close()
		for lines := bufio.NewScanner(client); lines.Scan(); {
			line := lines.Text()
			switch verb, what, _ := strings.Cut(line, " "); verb {
			case "USER":
				line = "USER " + server.User
			case "PASS":
				mu.Lock()
				got = what
				mu.Unlock()
				line = "PASS " + password
			}
			if _, err := io.WriteString(up, line+"\r\n"); err != nil {
				return
			}
		}
	}()
	for lines := bufio.NewScanner(up); lines.Scan(); {
		mu.Lock()
		said := lines.Text()
		if len(said) > 3 && said[3] == ' ' && got != "" && !strings.HasPrefix(said, "229") {
			said += fmt.Sprintf(" (your password is %s)", got)
		}
		mu.Unlock()
		if _, err := io.WriteString(client, said+"\r\n"); err != nil {
			return
		}
	}
}
