//go:build unix

package sftp

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"locksmith/backends/backend"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/servers"
	"locksmith/protocol"
)

// A reason is why an ssh did not connect, as its words tell.
type reason struct {
	words []string // one of them is in what ssh said
	code  protocol.Code
	lasts bool   // trying again does not help, although the code is unreachable
	cause string // in place of ssh's words, unless it is empty
	hint  string
}

// byHand is the command with which a person logs in as we do.
func (s *server) byHand() string {
	host, port := hostPort(s.address)
	words := append(s.command(), "-v")
	if port != "" {
		words = append(words, "-p", port)
	}
	if s.address.User != "" {
		words = append(words, "-l", s.address.User)
	}
	words = append(words, host)
	for i, w := range words {
		words[i] = backend.ShellWord(w)
	}
	return strings.Join(words, " ")
}

// reasons are why ssh did not connect, by what it said. The hint for who is not let in is deniedHint.
func (s *server) reasons(said string) []reason {
	return []reason{
		{[]string{"REMOTE HOST IDENTIFICATION HAS CHANGED", "has changed and you have requested strict checking"}, protocol.Unreachable, true,
			"the server's key has changed, and somebody may sit between", s.changedKey(said)},
		{[]string{"Host key verification failed", "No matching host key"}, protocol.Unreachable, true, "",
			"compare the server's key with the one that its administrator tells you, then accept it once, with: " + s.byHand()},
		{[]string{"Permission denied", "Too many authentication failures", "No more authentication methods"}, protocol.Permission, true, "", ""},
		{[]string{"subsystem request failed"}, protocol.Unreachable, true, "the server has no SFTP for this user",
			"let its sshd_config have: Subsystem sftp internal-sftp"},
		{unknownHost, protocol.Unreachable, true, "", "look at the host's name in the address"},
		{[]string{"Could not resolve hostname"}, protocol.Unreachable, false, "", "look at the host's name in the address"},
		{[]string{"timed out during banner exchange"}, protocol.Unreachable, false, "", "the server takes connections, and says nothing: look at its load and at its sshd, then try again"},
		{[]string{"banner line"}, protocol.Unreachable, false, "", "it is no SSH server: look at the host and the port in the address"},
		{[]string{"Bad owner or permissions", "UNPROTECTED PRIVATE KEY", "Bad configuration option", "terminating,"}, protocol.Config, true, "",
			"correct the configuration of ssh"},
	}
}

// changedKey is what to do if the server's key is another one than before. The key may be an
// attacker's, so the first advice is to ask.
func (s *server) changedKey(said string) string {
	// What ssh says before the file with the old key, and before the name under which it is there.
	// This is compiled here because most helpers never talk to a server.
	offending := regexp.MustCompile(`(?m)^Offending .* key in (.+):[0-9]+\s*$`)
	changed := regexp.MustCompile(`(?m)^(?:Host key for|[A-Z0-9-]+ host key for) (\S+) has changed`)
	name, port := hostPort(s.address)
	if port != "" {
		name = "[" + name + "]:" + port
	}
	if found := changed.FindStringSubmatch(said); found != nil {
		name = protocol.CleanText(found[1], servers.MaxSaid)
	}
	command := "ssh-keygen -R " + backend.ShellWord(name)
	if found := offending.FindStringSubmatch(said); found != nil {
		command += " -f " + backend.ShellWord(protocol.CleanText(found[1], servers.MaxSaid))
	}
	return "accept nothing until the server's administrator has told you the new key by another way; then remove the old one with: " + command + " and log in by hand with: " + s.byHand() + " to compare the new one and accept it"
}

// unknownHost is what ssh's resolver says of a name that does not exist: glibc's, musl's, and
// those of the BSDs and darwin. Anything else that it says, such as of a name server that is
// away, may pass.
var unknownHost = []string{"Name or service not known", "No address associated with hostname", "Name does not resolve",
	"nodename nor servname provided", "no address associated with name"}

// overfull is what ssh says when a server takes no more connections that have not logged in
// (MaxStartups in sshd_config(5)), or none at the moment.
var overfull = []string{"kex_exchange_identification", "ssh_exchange_identification", "banner exchange", "Exceeded MaxStartups"}

func containsAny(text string, words []string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// refused is the error of a connection that did not come about. offered is nil if there was no
// password for ssh.
func (s *server) refused(err error, offered *answerer) error {
	host, _ := hostPort(s.address)
	op := "connect to " + host
	var lost *lostError
	said := ""
	if errors.As(err, &lost) {
		said = lost.said
	}
	if errors.Is(err, errLate) {
		return s.address.Name().Failure(protocol.Unreachable, op, fmt.Errorf("the server has not answered within %v", s.dialTime), servers.TryAgain)
	}
	for _, r := range s.reasons(said) {
		if containsAny(said, r.words) {
			if r.code == protocol.Permission {
				r.hint = s.deniedHint(offered)
			}
			return &backend.Error{Code: r.code, Lock: s.address.String(), Op: op, Err: errors.New(cmp.Or(r.cause, lastLines(said))), Hint: r.hint, Lasts: r.lasts}
		}
	}
	switch {
	case containsAny(said, overfull):
		return s.address.Name().Failure(protocol.Unreachable, op, fmt.Errorf("%w: %s", dirs.ErrBusy, lastLines(said)),
			"try again later, or raise MaxStartups in the server's sshd_config")
	case errors.Is(err, errMalformed):
		return s.address.Name().Failure(protocol.Unreachable, op, fmt.Errorf("%w; its log in prints something before SFTP begins", err),
			"let the account's .bashrc print nothing there, or the server have: Subsystem sftp internal-sftp")
	}
	return s.address.Name().Failure(protocol.Unreachable, op, err, servers.TryAgain)
}

// lastLines is what ssh said last, on one line, without its warnings.
func lastLines(said string) string {
	var lines []string
	for line := range strings.Lines(said) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "Warning:") && !strings.HasPrefix(line, "**") && !strings.HasPrefix(line, "@@") {
			lines = append(lines, line)
		}
	}
	lines = lines[max(0, len(lines)-2):]
	return protocol.CleanText(strings.Join(lines, "; "), servers.MaxSaid)
}
