package profile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strings"

	"github.com/git-lfs/go-netrc/netrc"
)

// fromNetrc returns the password of a user at a host, "" if there is none. The
// entry "default" is not used: it would tell the password to any server.
func fromNetrc(path, user, host string) (string, error) {
	text, err := private.read(path, readNetrc)
	if err != nil {
		return "", err
	}
	return passwordIn(text, path, user, host)
}

// passwordIn is fromNetrc of the text in a file.
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
	if strings.HasPrefix(m.Password, `"`) { // the library would cut it at a space
		return "", fail(path, readNetrc, fmt.Errorf("the password for machine %s begins with a quote, which programs read differently", m.Name),
			"use a profile with password_file")
	}
	return m.Password, nil
}

// machine is the name of a host in netrc: without its port.
func machine(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.Trim(host, "[]")
}

// notMissing refuses to go on without a password that a profile promises.
func notMissing(path, user, host, secret string, err error) error {
	if err != nil || secret != "" {
		return err
	}
	return fail(path, readNetrc, fmt.Errorf("it has no password for login %s at machine %s", user, machine(host)), "add it")
}

// notAbsent passes over a netrc that nobody wrote.
func notAbsent(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
