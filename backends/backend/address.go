package backend

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"locksmith/protocol"
)

// maxAddress keeps an address, escaped, within a protocol line.
const maxAddress = 1024

// A Scheme is how an address begins, and what it leads to.
type Scheme struct {
	Name string
	// Port is the usual one of the servers that the scheme leads to: addresses
	// are "scheme://user@host:port/path". Without it they are "scheme:/path".
	Port string
}

// An Address names a lock: "scheme:/path" or "scheme://user@host:port/path",
// optionally with "?option=value&…". In the path "%25" stands for "%" and "%3F"
// for "?".
type Address struct {
	Scheme  string
	User    string // empty: none given
	Host    string // lower case, "host" or "host:port", the usual port left out; empty: no server
	Path    string // absolute and clean
	Options map[string]string
}

// ParseAddress reads an address strictly. Its errors are *Error with code
// usage and advice.
func ParseAddress(s string, schemes []Scheme) (Address, error) {
	fail := func(cause, hint string) (Address, error) {
		return Address{}, &Error{Code: protocol.Usage, Lock: shown(s), Op: "read address", Err: errors.New(cause), Hint: hint}
	}
	known := "known schemes: " + names(schemes)
	switch {
	case s == "":
		return fail("it is empty", "write for example local:/var/lock/name")
	case len(s) > maxAddress:
		return fail(fmt.Sprintf("it is longer than %d bytes", maxAddress), "shorten it")
	case !utf8.ValidString(s) || strings.ContainsFunc(s, protocol.IsControl):
		return fail("it holds control characters or is not UTF-8", "remove them")
	case strings.HasPrefix(s, "/"):
		return fail("it has no scheme", "did you mean local:"+shown(s)+"?")
	}
	scheme, rest, ok := strings.Cut(s, ":")
	if !ok {
		return fail("it has no scheme", "write for example local:/var/lock/name; "+known)
	}
	i := slices.IndexFunc(schemes, func(k Scheme) bool { return k.Name == scheme })
	if i < 0 {
		return fail(fmt.Sprintf("scheme %q is not known", scheme), known)
	}
	a := Address{Scheme: scheme}
	if schemes[i].Port != "" {
		var err error
		if rest, err = a.parseServer(rest, schemes[i].Port); err != nil {
			return fail(err.Error(), "write "+scheme+"://user@host/path")
		}
	}
	raw, query, _ := strings.Cut(rest, "?")
	p, err := url.PathUnescape(raw)
	if err != nil || strings.ContainsFunc(p, protocol.IsControl) || !utf8.ValidString(p) {
		return fail("the path has a wrong % escape", "write %25 for a percent sign; control characters are refused")
	}
	switch {
	case !strings.HasPrefix(p, "/"):
		return fail("the path is not absolute", "every process must name the lock alike: begin with "+scheme+":/")
	case strings.HasSuffix(p, "/"):
		return fail("the path ends in a slash", "name the lock itself, not a directory")
	case slices.Contains(strings.Split(p, "/"), ".."):
		return fail("the path contains ..", "write it without")
	}
	options, err := parseOptions(query)
	if err != nil {
		return fail(err.Error(), "write ?option=value&option=value")
	}
	a.Path, a.Options = path.Clean(p), options
	return a, nil
}

// parseServer reads "//user@host:port" off the front.
func (a *Address) parseServer(s, usualPort string) (rest string, err error) {
	s, ok := strings.CutPrefix(s, "//")
	if !ok {
		return "", errors.New("it names no server")
	}
	end := strings.IndexAny(s, "/?")
	if end < 0 {
		end = len(s)
	}
	// The error of Parse would show what may be a password.
	u, err := url.Parse("//" + s[:end])
	switch {
	case err != nil || u.Hostname() == "":
		return "", errors.New("it names no server, or not in the form of a URL")
	case u.User != nil:
		if _, has := u.User.Password(); has {
			return "", errors.New("a password has no place in an address, where everybody can see it")
		}
		if a.User = u.User.Username(); a.User == "" || strings.ContainsFunc(a.User, protocol.IsControl) || !utf8.ValidString(a.User) {
			return "", errors.New("the user's name is empty or holds control characters")
		}
	}
	a.Host = strings.ToLower(u.Hostname())
	if strings.ContainsFunc(a.Host, func(r rune) bool { return protocol.IsControl(r) || r == ' ' || r > unicode.MaxASCII }) {
		return "", errors.New("the host's name holds strange characters")
	}
	if strings.Contains(a.Host, ":") {
		a.Host = "[" + a.Host + "]"
	}
	if port := u.Port(); port != "" && port != usualPort {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || strconv.FormatUint(n, 10) != port {
			return "", fmt.Errorf("port %q is none", port)
		}
		a.Host += ":" + port
	}
	return s[end:], nil
}

func names(schemes []Scheme) string {
	var all []string
	for _, s := range schemes {
		all = append(all, s.Name)
	}
	return strings.Join(all, ", ")
}

// shown is an address for people, without what may be a password.
func shown(s string) string {
	if scheme, rest, ok := strings.Cut(s, "://"); ok {
		if end := strings.LastIndexByte(rest, '@'); end >= 0 {
			if user, _, has := strings.Cut(rest[:end], ":"); has {
				s = scheme + "://" + user + ":…" + rest[end:]
			}
		}
	}
	return protocol.CleanText(s, 100)
}

func parseOptions(query string) (map[string]string, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, fmt.Errorf("its options cannot be read: %w", err)
	}
	options := map[string]string{}
	for key, all := range values {
		if len(all) != 1 || all[0] == "" {
			return nil, fmt.Errorf("option %q needs exactly one value", key)
		}
		options[key] = all[0]
	}
	return options, nil
}

// String returns the address in its one canonical spelling.
func (a Address) String() string {
	s := a.Scheme + ":"
	if a.Host != "" {
		s += "//"
		if a.User != "" {
			s += url.User(a.User).String() + "@"
		}
		s += a.Host
	}
	s += strings.NewReplacer("%", "%25", "?", "%3F").Replace(a.Path)
	if len(a.Options) == 0 {
		return s
	}
	q := url.Values{}
	for k, v := range a.Options {
		q.Set(k, v)
	}
	return s + "?" + q.Encode()
}

// CheckOptions refuses options that the backend does not know. Each known one
// maps to the values it may have.
func (a Address) CheckOptions(known map[string][]string) error {
	for key, value := range a.Options {
		values, ok := known[key]
		if !ok {
			return &Error{Code: protocol.Usage, Lock: a.String(), Op: "read address", Err: fmt.Errorf("option %q is not known here", key)}
		}
		if !slices.Contains(values, value) {
			return &Error{Code: protocol.Usage, Lock: a.String(), Op: "read address",
				Err: fmt.Errorf("option %s is %q", key, value), Hint: "it may be " + strings.Join(values, " or ")}
		}
	}
	return nil
}
