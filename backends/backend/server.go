package backend

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"locksmith/protocol"
)

// parseServer reads "//user@host:port" at the beginning of s, and returns what follows. If the scheme
// may have several hosts, commas are between them, and only the first may have the user.
func (a *Address) parseServer(s string, scheme Scheme) (rest string, err error) {
	s, ok := strings.CutPrefix(s, "//")
	if !ok {
		return "", errors.New("it names no server")
	}
	end := strings.IndexAny(s, "/?")
	if end < 0 {
		end = len(s)
	}
	hosts := []string{s[:end]}
	if scheme.Several {
		hosts = strings.Split(s[:end], ",")
	}
	for i := range hosts {
		if hosts[i], err = a.parseHost(hosts[i], scheme.Port, i == 0); err != nil {
			return "", err
		}
	}
	a.Host = strings.Join(hosts, ",")
	return s[end:], nil
}

// parseHost reads "user@host:port", and returns the host as it is in an Address.
func (a *Address) parseHost(s, usualPort string, first bool) (host string, err error) {
	// The error of Parse would show what may be a password.
	u, err := url.Parse("//" + s)
	switch {
	case err != nil || u.Hostname() == "":
		return "", errors.New("it names no server, or not in the form of a URL")
	case u.User != nil && !first:
		return "", errors.New("a user's name stands before the first host only")
	case u.User != nil:
		if _, has := u.User.Password(); has {
			return "", errors.New("a password has no place in an address, where everybody can see it")
		}
		if a.User = u.User.Username(); a.User == "" || strings.ContainsFunc(a.User, protocol.Misleads) || !utf8.ValidString(a.User) {
			return "", errors.New("the user's name is empty or holds control characters")
		}
	}
	if strings.HasSuffix(u.Host, ":") { // what follows may be a password that holds a slash
		return "", errors.New("the port is missing behind the colon")
	}
	host = strings.ToLower(u.Hostname())
	if strings.ContainsFunc(host, func(r rune) bool { return protocol.IsControl(r) || r == ' ' || r > unicode.MaxASCII }) {
		return "", errors.New("the host's name holds strange characters")
	}
	if strings.Contains(host, ":") {
		if ip, err := netip.ParseAddr(host); err != nil || !ip.Is6() || !isZone(ip.Zone()) {
			return "", errors.New("the host's name holds a colon, and it is no IPv6 address")
		}
		host = "[" + host + "]"
	}
	if port := u.Port(); port != "" && port != usualPort {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || strconv.FormatUint(n, 10) != port {
			return "", fmt.Errorf("port %q is none", port)
		}
		host += ":" + port
	}
	return host, nil
}
