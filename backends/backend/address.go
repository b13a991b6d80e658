package backend

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"locksmith/protocol"
)

// maxAddress keeps an address, escaped, within a protocol line.
const maxAddress = 1024

// An Address names a lock: "scheme:/path", optionally with "?option=value&…".
// In the path "%25" stands for "%" and "%3F" for "?".
type Address struct {
	Scheme  string
	Path    string // absolute and clean
	Options map[string]string
}

// ParseAddress reads an address strictly. Its errors are *Error with code
// usage and advice.
func ParseAddress(s string, schemes []string) (Address, error) {
	fail := func(cause, hint string) (Address, error) {
		shown := protocol.CleanText(s, 100)
		return Address{}, &Error{Code: protocol.Usage, Lock: shown, Op: "read address", Err: errors.New(cause), Hint: hint}
	}
	known := "known schemes: " + strings.Join(schemes, ", ")
	switch {
	case s == "":
		return fail("it is empty", "write for example local:/var/lock/name")
	case len(s) > maxAddress:
		return fail(fmt.Sprintf("it is longer than %d bytes", maxAddress), "shorten it")
	case !utf8.ValidString(s) || strings.ContainsFunc(s, protocol.IsControl):
		return fail("it holds control characters or is not UTF-8", "remove them")
	case strings.HasPrefix(s, "/"):
		return fail("it has no scheme", "did you mean local:"+protocol.CleanText(s, 100)+"?")
	}
	scheme, rest, ok := strings.Cut(s, ":")
	if !ok {
		return fail("it has no scheme", "write for example local:/var/lock/name; "+known)
	}
	if !slices.Contains(schemes, scheme) {
		return fail(fmt.Sprintf("scheme %q is not known", scheme), known)
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
	return Address{Scheme: scheme, Path: path.Clean(p), Options: options}, nil
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
	s := a.Scheme + ":" + strings.NewReplacer("%", "%25", "?", "%3F").Replace(a.Path)
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
