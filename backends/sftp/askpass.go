//go:build unix

package sftp

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"locksmith/backends/backend"
)

// AskpassVariable tells a locksmith that an ssh has started it to ask for a password, and whom
// to ask: it is the path of a socket.
const AskpassVariable = "LOCKSMITH_ASKPASS"

// maxPrompt bounds the length of a question.
const maxPrompt = 4 << 10

// askTime is how long a question may take.
const askTime = 10 * time.Second

// Ask passes on a question of ssh, and writes the answer, as a program for $SSH_ASKPASS does. It
// fails if there is no answer: then ssh goes on without.
func Ask(socket, prompt string, to io.Writer) error {
	c, err := net.DialTimeout("unix", socket, askTime)
	if err != nil {
		return err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(askTime)) // else it waits without end
	if _, err := io.WriteString(c, prompt[:min(len(prompt), maxPrompt)]); err != nil {
		return err
	}
	if err := c.(*net.UnixConn).CloseWrite(); err != nil {
		return err
	}
	answer, err := io.ReadAll(c)
	if err != nil || len(answer) == 0 {
		return fmt.Errorf("nobody answers %q", prompt)
	}
	_, err = fmt.Fprintf(to, "%s\n", answer)
	return err
}

// An answerer answers ssh's question for a password, while ssh logs in, on a socket in a
// directory that only this user can open. So the password is in no argument and no file. Nor is
// it in the environment, which ssh may send to the server (SendEnv) and hands to what it starts.
type answerer struct {
	dir       string
	listener  net.Listener
	questions []string // how questions for this password begin
	password  string
	variable  string // the environment variable that has the password; "": none has
	source    string // what has the password, for people
	answered  atomic.Bool
}

// answerPassword answers with a password. source is where that stands, as backend.Access says.
func answerPassword(a backend.Address, password, source string) (*answerer, error) {
	dir, err := os.MkdirTemp("", "locksmith-") // nobody else may open it
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, err
	}
	host, _ := hostPort(a)
	// As OpenSSH asks, for the methods password and keyboard-interactive. A host on the way
	// (ProxyJump) must not get it, nor a key that is locked.
	questions := []string{a.User + "@" + host + "'s password:", "(" + a.User + "@" + host + ") "}
	w := &answerer{dir: dir, listener: l, questions: questions, password: password, source: source}
	if name, inVariable := strings.CutPrefix(source, "$"); inVariable {
		w.variable = name
	}
	go w.serve()
	return w, nil
}

func (w *answerer) serve() {
	for {
		c, err := w.listener.Accept()
		if err != nil {
			return
		}
		_ = c.SetDeadline(time.Now().Add(askTime))
		prompt, _ := io.ReadAll(io.LimitReader(c, maxPrompt))
		if w.concerns(string(prompt)) {
			w.answered.Store(true)
			_, _ = io.WriteString(c, w.password)
		}
		_ = c.Close()
	}
}

// denied is what to do if the server lets nobody in. w is nil if there was no password for ssh.
// byHand is the command with which a person may log in.
func (w *answerer) denied(byHand string) string {
	switch {
	case w == nil:
		return "look at the user in the address, and whether the server knows this account's key: log in by hand with: " + byHand
	case w.answered.Load():
		return "the password is refused: correct it in " + w.source + ", or the user in the address"
	}
	return "the server has not asked for the password in " + w.source + ": look at what it takes instead, in brackets, and at the user in the address: log in by hand with: " + byHand
}

// concerns reports whether the question is for the password of our user at our server.
func (w *answerer) concerns(prompt string) bool {
	return strings.Contains(strings.ToLower(prompt), "password") &&
		slices.ContainsFunc(w.questions, func(q string) bool { return strings.HasPrefix(prompt, q) })
}

// env is the environment of an ssh that asks us. It does not have the password.
func (w *answerer) env() []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return w.variable != "" && strings.HasPrefix(v, w.variable+"=") })
	if os.Getenv("DISPLAY") == "" {
		env = append(env, "DISPLAY=:") // OpenSSH before 8.4 asked only with one
	}
	return append(env, "SSH_ASKPASS="+itself(), "SSH_ASKPASS_REQUIRE=force", AskpassVariable+"="+w.listener.Addr().String())
}

// itself is the program that runs, where the kernel tells, whatever has replaced its file since.
func itself() string {
	running := fmt.Sprintf("/proc/%d/exe", os.Getpid())
	if _, err := os.Stat(running); err == nil {
		return running
	}
	path, _ := os.Executable() // without it ssh says that it cannot ask
	return path
}

func (w *answerer) close() {
	_ = w.listener.Close()
	_ = os.RemoveAll(w.dir)
}
