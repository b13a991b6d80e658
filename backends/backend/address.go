package backend

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"locksmith/protocol"
)

// maxAddress keeps an address, escaped, within a protocol line.
const maxAddress = 1024

// ParseAddress reads the address of a lock strictly. Its error is an *Error with the code usage and
// advice.
func ParseAddress(s string, schemes []Scheme) (Address, error) {
	return parse(s, schemes, Address.parsePath)
}

// ParsePlace is ParseAddress for a directory that locks may be in. Its path may end in a slash. On a
// server it may be where a log in leads, "scheme://host" or "scheme://host/", or the root,
// "scheme://host//".
func ParsePlace(s string, schemes []Scheme) (Address, error) {
	a, err := parse(s, schemes, Address.parsePlace)
	a.Place = err == nil
	return a, err
}

// parse reads an address, and its path by parsePath.
func parse(s string, schemes []Scheme, parsePath func(Address, string) (clean, cause, hint string)) (Address, error) {
	given := masked(s, schemes)
	fail := func(cause, hint string) (Address, error) {
		return Address{}, &Error{Code: protocol.Usage, Lock: bounded(given), Op: "read address", Err: errors.New(cause), Hint: hint}
	}
	known := "known schemes: " + names(schemes)
	switch {
	case s == "":
		return fail("it is empty", "write for example local:/var/lock/name")
	case len(s) > maxAddress:
		return fail(fmt.Sprintf("it is longer than %d bytes", maxAddress), "shorten it")
	case !utf8.ValidString(s) || strings.ContainsFunc(s, protocol.Misleads):
		return fail("it holds control characters or marks of the direction of writing, or is not UTF-8", "remove them")
	case strings.HasPrefix(s, "/"):
		return fail("it has no scheme", "did you mean flock:"+bounded(given)+", which flock(1) locks, too?")
	}
	scheme, rest, ok := strings.Cut(s, ":")
	if !ok {
		return fail("it has no scheme", "write for example local:/var/lock/name; "+known)
	}
	i := slices.IndexFunc(schemes, func(k Scheme) bool { return k.Name == scheme })
	if i < 0 {
		if isPlain(scheme) {
			known += "; or install the program that has it, locksmith-" + scheme
		}
		return fail(fmt.Sprintf("scheme %q is not known", shownName(scheme)), known)
	}
	a := Address{Scheme: scheme, given: given}
	if schemes[i].Port != "" {
		var err error
		if rest, err = a.parseServer(rest, schemes[i]); err != nil {
			return fail(err.Error(), "write "+scheme+"://user@host/path")
		}
	}
	raw, query, _ := strings.Cut(rest, "?")
	clean, cause, hint := parsePath(a, raw)
	if cause != "" {
		return fail(cause, hint)
	}
	options, err := a.parseOptions(query)
	if err != nil {
		return fail(err.Error(), "write ?option=value&option=value")
	}
	a.Path, a.Options = clean, options
	return a, nil
}

// parsePlace is parsePath for the address of a directory that locks may be in.
func (a Address) parsePlace(raw string) (clean, cause, hint string) {
	p, err := url.PathUnescape(raw)
	if a.Host != "" && err == nil && (p == "" || path.Clean(p) == "/") && !climbs(p) {
		return a.clean(cmp.Or(p, "/")), "", ""
	}
	if strings.HasSuffix(raw, "/") {
		raw += "."
	}
	return a.parsePath(raw)
}

// parsePath returns the path in its clean spelling. If it refuses the path, it returns why, and a
// hint.
func (a Address) parsePath(raw string) (clean, cause, hint string) {
	p, err := url.PathUnescape(raw)
	if a.Host == "" {
		p = slashed(p)
	}
	switch {
	case err != nil || strings.ContainsFunc(p, protocol.Misleads) || !utf8.ValidString(p):
		return "", "the path has a wrong % escape", "write %25 for a percent sign; control characters and marks of the direction of writing are refused"
	case p == "" && a.Host != "":
		return "", "it names no lock there", "add its name after the host or the bucket, and before any ?: " + a.Scheme + "://" + bounded(a.Host) + "/name"
	case !strings.HasPrefix(p, "/"):
		return "", "the path is not absolute", "every process must name the lock alike: begin with " + a.Scheme + ":/" + a.example(p)
	case strings.HasSuffix(p, "/"):
		return "", "the path ends in a slash", "name the lock itself, not a directory"
	case climbs(p):
		return "", "the path contains ..", "write it without"
	case path.Clean(p) == "/":
		return "", "the path is where all others begin", "name the lock itself, not a directory"
	}
	return a.clean(p), "", ""
}

// example is an address, in words, that a path may stand for which begins in the working
// directory, or "". What is before an @ may be a password.
func (a Address) example(p string) string {
	if full, err := filepath.Abs(p); err == nil && a.Host == "" && !climbs(p) && !strings.Contains(p, "@") {
		return ", as in " + bounded(a.Scheme+":"+filepath.ToSlash(full))
	}
	return ""
}

// climbs reports that a path contains "..".
func climbs(p string) bool { return slices.Contains(strings.Split(p, "/"), "..") }

// clean returns the clean spelling of an absolute path. On a server two slashes at its beginning stay
// two.
func (a Address) clean(p string) string {
	if a.Host != "" && strings.HasPrefix(p, "//") {
		return "/" + path.Clean(p)
	}
	return path.Clean(p)
}

func names(schemes []Scheme) string {
	var all []string
	for _, s := range schemes {
		all = append(all, s.Name)
	}
	return strings.Join(all, ", ")
}

func (a Address) parseOptions(query string) (map[string]string, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, errors.New("its options hold a wrong % escape or a semicolon") // err shows a part of them
	}
	options := map[string]string{}
	for key, all := range values {
		if len(all) != 1 || all[0] == "" {
			return nil, fmt.Errorf("option %q needs exactly one value", a.shownName(key))
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
	return s + "?" + asTyped.Replace(q.Encode())
}

// asTyped leaves what a query may have as it is (RFC 3986, 3.4), so that an endpoint is shown as
// people write it.
var asTyped = strings.NewReplacer("%3A", ":", "%2F", "/")

// Hosts returns the hosts of an address that may have several.
func (a Address) Hosts() []string { return strings.Split(a.Host, ",") }

// Name returns the address for the errors about its lock.
func (a Address) Name() Name { return Name(a.String()) }

// OnServer returns the path as a server is told it. It begins where a log in leads, or at the root if
// it still begins with a slash.
func (a Address) OnServer() string { return strings.TrimPrefix(a.Path, "/") }

// EscapePath returns a path as it stands in an address.
func EscapePath(path string) string {
	return strings.ReplaceAll(strings.ReplaceAll(path, "%", "%25"), "?", "%3F")
}

// Below returns the address of what is below the directory that n names, with the same options. path
// is empty or begins with a slash.
func (n Name) Below(path string) Name {
	before, query, has := strings.Cut(string(n), "?")
	if path != "" {
		before = strings.TrimSuffix(before, "/") + EscapePath(path) // the root has a slash already
	}
	if !has {
		return Name(before)
	}
	return Name(before + "?" + query)
}

// With returns the address with these options instead of those that it has of their names. A value of
// "" leaves the option out.
func (n Name) With(options map[string]string) Name {
	before, query, _ := strings.Cut(string(n), "?")
	values, err := url.ParseQuery(query)
	if err != nil || len(options) == 0 {
		return n
	}
	for name, value := range options {
		if values.Del(name); value != "" {
			values.Set(name, value)
		}
	}
	if len(values) == 0 {
		return Name(before)
	}
	return Name(before + "?" + asTyped.Replace(values.Encode()))
}

// HasServer reports that the address of a lock, as String writes it, leads to a server, and not to a
// file system of this machine.
func HasServer(address string) bool {
	_, path, _ := strings.Cut(address, ":")
	return strings.HasPrefix(path, "//")
}

// CheckOptions refuses options that the kind of lock does not have. known maps each option that it
// has to the values that the option may have.
func (a Address) CheckOptions(known map[string][]string) error {
	for key, value := range a.Options {
		values, ok := known[key]
		switch {
		case !ok:
			return a.Wrong(fmt.Errorf("option %q is not known here", a.shownName(key)), "")
		case !slices.Contains(values, value):
			return a.Wrong(fmt.Errorf("option %s is %q", key, a.shownValue(key, value)), "it may be "+strings.Join(values, " or "))
		}
	}
	return nil
}

// Wrong returns the error of an address that makes no sense. It shows nothing that may be a password.
func (a Address) Wrong(cause error, hint string) error {
	return &Error{Code: protocol.Usage, Lock: bounded(a.asGiven()), Op: "read address", Err: cause, Hint: hint}
}
