package backend

import (
	"slices"
	"strings"

	"locksmith/protocol"
)

// bounded returns an address for people: short enough, and without control characters.
func bounded(s string) string { return protocol.CleanText(s, 100) }

// masked leaves out of an address what may be a password. The address may be malformed, so masked has
// to guess, and rather leaves out too much than too little.
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

// passwordStart returns where a password may begin: behind the first colon that is not a scheme's. It
// returns -1 if there is no such colon.
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

// asGiven returns how the address was spelled, without what may be a password. The canonical spelling
// would not do: it leaves out ports and escapes, and so no longer tells where a password may be.
func (a Address) asGiven() string {
	if a.given != "" {
		return a.given
	}
	return masked(a.String(), []Scheme{{Name: a.Scheme}})
}

// shownName returns the name of an option, if the address as we show it contains that name.
func (a Address) shownName(name string) string {
	if !strings.Contains(a.asGiven(), name) {
		return "…"
	}
	return shownName(name)
}

// shownValue returns the value of an option, if the address as we show it contains that value.
func (a Address) shownValue(name, value string) string {
	if !strings.Contains(a.asGiven(), value) {
		return "…"
	}
	return shownValue(name, value)
}

func maskedOption(pair string) string {
	name, value, has := strings.Cut(pair, "=")
	if !has {
		return shownName(name)
	}
	return shownName(name) + "=" + shownValue(name, value)
}

// shownName returns the name of an option or a scheme. A text that cannot be such a name may be part
// of a password, so it returns "…" for it.
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

// isSecretive reports that the value of an option of this name may be a secret.
func isSecretive(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"pass", "pwd", "secret", "token", "key", "auth", "cred"},
		func(word string) bool { return strings.Contains(name, word) })
}

// shellChars are the characters that a shell leaves alone everywhere in a word.
const shellChars = plainChars + "@%+=:,./"

// ShellWord returns a word as one writes it for a shell: in quotes if it needs them.
func ShellWord(word string) string {
	if word != "" && strings.Trim(word, shellChars) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
