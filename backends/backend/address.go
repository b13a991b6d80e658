package backend

import (
	"errors"
	"fmt"
	"net/netip"
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
	// About says in a few words what the locks are.
	About string
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
		return Address{}, &Error{Code: protocol.Usage, Lock: shown(s, schemes), Op: "read address", Err: errors.New(cause), Hint: hint}
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
		return fail("it has no scheme", "did you mean local:"+shown(s, schemes)+"?")
	}
	scheme, rest, ok := strings.Cut(s, ":")
	if !ok {
		return fail("it has no scheme", "write for example local:/var/lock/name; "+known)
	}
	i := slices.IndexFunc(schemes, func(k Scheme) bool { return k.Name == scheme })
	if i < 0 {
		return fail(fmt.Sprintf("scheme %q is not known", shownName(scheme)), known)
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
	case path.Clean(p) == "/":
		return fail("the path is the root directory", "name the lock itself, not a directory")
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
		if ip, err := netip.ParseAddr(a.Host); err != nil || !ip.Is6() || !isZone(ip.Zone()) {
			return "", errors.New("the host's name holds a colon, and it is no IPv6 address")
		}
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

func parseOptions(query string) (map[string]string, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, errors.New("its options hold a wrong % escape or a semicolon") // err shows a part of them
	}
	options := map[string]string{}
	for key, all := range values {
		if len(all) != 1 || all[0] == "" {
			return nil, fmt.Errorf("option %q needs exactly one value", shownName(key))
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
		s += strings.ReplaceAll(a.Host, "%", "%25") // before an IPv6 address's zone (RFC 6874)
	}
	s += EscapePath(a.Path)
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
		switch {
		case !ok:
			return a.wrongOption(fmt.Errorf("option %q is not known here", shownName(key)), "")
		case !slices.Contains(values, value):
			return a.wrongOption(fmt.Errorf("option %s is %q", key, shownValue(key, value)), "it may be "+strings.Join(values, " or "))
		}
	}
	return nil
}

func (a Address) wrongOption(cause error, hint string) error {
	lock := masked(a.String(), []Scheme{{Name: a.Scheme}})
	return &Error{Code: protocol.Usage, Lock: lock, Op: "read address", Err: cause, Hint: hint}
}

// shown is an address for people: bounded, and without what may be a password.
func shown(s string, schemes []Scheme) string {
	return protocol.CleanText(masked(s, schemes), 100)
}

// masked leaves out of an address what may be a password. The address may be
// malformed, so that this is a guess, which rather leaves out too much.
func masked(s string, schemes []Scheme) string {
	if at := strings.LastIndexByte(s, '@'); at >= 0 {
		from := passwordStart(s[:at], schemes)
		switch {
		case from < 0:
		case strings.Contains(s[from:at], "?"): // it may be the password's, and what follows too
			s = s[:from] + "…"
		default:
			s = s[:from] + "…" + s[at:]
		}
	}
	before, query, has := strings.Cut(s, "?")
	if !has {
		return s
	}
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		pairs[i] = maskedOption(pair)
	}
	return before + "?" + strings.Join(pairs, "&")
}

// passwordStart returns where a password may begin: behind the first colon that
// is not a scheme's; -1 if nowhere.
func passwordStart(s string, schemes []Scheme) int {
	from := 0
	for _, k := range schemes {
		if strings.HasPrefix(s, k.Name+":/") { // else the name may be a user's
			from = len(k.Name) + 1
		}
	}
	colon := strings.IndexByte(s[from:], ':')
	if colon < 0 {
		return -1
	}
	return from + colon + 1
}

func maskedOption(pair string) string {
	name, value, has := strings.Cut(pair, "=")
	if !has {
		return shownName(name)
	}
	return shownName(name) + "=" + shownValue(name, value)
}

// shownName is the name of an option or a scheme; what is none may be a part of a
// password.
func shownName(name string) string {
	if !isPlain(name) {
		return "…"
	}
	return name
}

func shownValue(name, value string) string {
	if !isPlain(name) || !isPlain(value) || isSecretive(name) {
		return "…"
	}
	return value
}

const plainChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

func isPlain(s string) bool { return len(s) <= 32 && strings.Trim(s, plainChars) == "" }

// isZone reports that s may be the name of a network interface.
func isZone(s string) bool { return strings.Trim(s, plainChars+".") == "" }

// isSecretive reports that an option of that name may have a secret as its value.
func isSecretive(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"pass", "pwd", "secret", "token", "key", "auth", "cred"},
		func(word string) bool { return strings.Contains(name, word) })
}
