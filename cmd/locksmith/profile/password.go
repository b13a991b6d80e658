package profile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"path/filepath"
	"strings"

	"github.com/git-lfs/go-netrc/netrc"
)

// passwordVariable holds the password if no profile says otherwise.
const passwordVariable = "LOCKSMITH_PASSWORD"

const (
	readPassword = "read password"
	readNetrc    = "read netrc"
)

// checkSources checks that the files named by a profile are fit, so that a mistake shows before
// anybody waits for a lock. It reads none of them.
func (p *Profile) checkSources() error {
	for path, op := range map[string]string{p.passwordFile: readPassword, p.netrc: readNetrc, p.certificate: "read our certificate"} {
		if path == "" {
			continue
		}
		f, err := private.open(path, op)
		if err != nil {
			return err
		}
		_ = f.Close()
	}
	return nil
}

// password is the Password function of a backend.Access.
func (p *Profile) password(user, host string) (secret, source string, err error) {
	secret, source, err = p.secret(user, host)
	if err == nil && strings.ContainsAny(secret, "\r\n\x00") {
		// A server would take the rest for a command.
		return "", "", fail(source, readPassword, errors.New("the password holds a line break or a zero byte"), "correct it")
	}
	return secret, source, err
}

// secret returns the password and where it is stored.
func (p *Profile) secret(user, host string) (secret, source string, err error) {
	switch {
	case user == "" && p.ownPassword():
		err = p.Wrong(errors.New("it has a password, but the address names no user: write scheme://USER@host/path"))
	case user == "": // the user is anonymous
	case p.passwordFile != "":
		secret, err = firstLine(p.passwordFile)
		return secret, p.passwordFile, err
	case p.passwordEnv != "":
		if secret = p.env.Getenv(p.passwordEnv); secret == "" {
			err = p.Wrong(fmt.Errorf("variable %s, its password_env, is not set, or empty", p.passwordEnv))
		}
		return secret, "$" + p.passwordEnv, err
	case p.netrc != "":
		if secret, err = fromNetrc(p.netrc, user, host); err == nil && secret == "" {
			err = fail(p.netrc, readNetrc, fmt.Errorf("it has no password for login %s at machine %s", user, machine(host)), "add it")
		}
		return secret, p.netrc, err
	default:
		return p.env.secret(user, host)
	}
	return "", "", err
}

// secret is the password if no profile says otherwise; "": none was found.
func (e Env) secret(user, host string) (secret, source string, err error) {
	if secret = e.Getenv(passwordVariable); secret != "" {
		return secret, "$" + passwordVariable, nil
	}
	path := e.Getenv("NETRC")
	if path == "" && e.Home != "" {
		path = filepath.Join(e.Home, ".netrc")
	}
	if path == "" {
		return "", "", nil
	}
	secret, err = fromNetrc(path, user, host)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // nobody wrote such a file
	}
	return secret, path, err
}

func firstLine(path string) (string, error) {
	text, err := private.read(path, readPassword)
	if err != nil {
		return "", err
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	line = bytes.TrimSuffix(line, []byte("\r"))
	if len(line) == 0 {
		return "", fail(path, readPassword, errors.New("its first line is empty"), "write the password there")
	}
	return string(line), nil
}

// fromNetrc returns the password of a user at a host; "": there is none. It ignores the entry
// "default", which would tell the password to any server.
func fromNetrc(path, user, host string) (string, error) {
	text, err := private.read(path, readNetrc)
	if err != nil {
		return "", err
	}
	return passwordIn(text, path, user, host)
}

// passwordIn is fromNetrc for the text of a file. This library has no tagged release, but it
// refuses what it cannot understand. github.com/jdx/go-netrc 1.0.0 panics if the last word is
// "machine", and cuts an entry short at a password "default".
func passwordIn(text []byte, path, user, host string) (string, error) {
	parsed, err := netrc.Parse(bytes.NewReader(text))
	if err != nil {
		cause := errors.New("it cannot be understood")
		if at, ok := errors.AsType[*netrc.Error](err); ok {
			cause = fmt.Errorf("line %d cannot be understood", at.LineNum)
		}
		return "", fail(path, readNetrc, cause, "write: machine HOST login USER password …")
	}
	m := parsed.FindMachine(machine(host), user)
	if m == nil || m.IsDefault() {
		return "", nil
	}
	if strings.HasPrefix(m.Password, `"`) { // the library would cut the password at a space
		return "", fail(path, readNetrc, fmt.Errorf("the password for machine %s begins with a quote, which programs read differently", m.Name),
			"use a profile with password_file")
	}
	return m.Password, nil
}

// machine is the name of a host in netrc, which has no port.
func machine(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.Trim(host, "[]")
}
