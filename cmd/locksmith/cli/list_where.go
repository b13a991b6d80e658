package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"locksmith/backends/owner"
	"locksmith/cmd/locksmith/profile"
	"locksmith/protocol"
)

// A condition is one --where: a key, a comparison and a value.
type condition struct{ key, sign, value string }

// String is what parseCondition reads.
func (c condition) String() string { return c.key + c.sign + c.value }

// A fieldKind is how values of a field are compared.
type fieldKind int

const (
	metadata fieldKind = iota // as what both look like
	text
	number
	duration
)

// fields are the keys that are not of metadata.
var fields = map[string]fieldKind{
	"user": text, "host": text, "id": text, "mode": text, "state": text, "verdict": text,
	"pid": number, "token": number,
	"age": duration, "heartbeat": duration, "lease": duration,
}

// words are the values of those texts that have only a few.
var words = map[string][]string{
	"mode": {"shared", "exclusive"}, "state": {"held", "waiting"},
	"verdict": {"alive", "dead", "orphaned", "unknown"},
}

const metaKey = "meta."

// signs has the longer ones first.
var signs = []string{"!=", "<=", ">=", "=", "<", ">"}

// parseCondition reads what --where says.
func parseCondition(s string) (condition, error) {
	i := strings.IndexAny(s, "!<>=")
	if i < 0 {
		return condition{}, fmt.Errorf("--where %s: write key=value, or !=, <, >, <= or >= between", shownCondition(s))
	}
	c := condition{key: s[:i]}
	for _, sign := range signs {
		if strings.HasPrefix(s[i:], sign) {
			c.sign, c.value = sign, s[i+len(sign):]
			break
		}
	}
	kind := fields[c.key]
	switch {
	case c.sign == "":
		return condition{}, fmt.Errorf("--where %s: write != for not", shownCondition(s))
	case kind == metadata && owner.CheckMeta(strings.TrimPrefix(c.key, metaKey)) != nil:
		return condition{}, fmt.Errorf("--where %s: %s is not a key: use a to z, 0 to 9, _ . -", shownCondition(s), shownCondition(c.key))
	case c.sign == "=" && strings.HasPrefix(c.value, "="):
		return condition{}, fmt.Errorf("--where %s: write one =", shownCondition(s))
	case kind == number && !isNumber(c.value):
		return condition{}, fmt.Errorf("--where %s: %s is compared with a number", shownCondition(s), c.key)
	case words[c.key] != nil && !slices.Contains(words[c.key], c.value):
		return condition{}, fmt.Errorf("--where %s: %s may be %s", shownCondition(s), c.key, strings.Join(words[c.key], " or "))
	}
	if _, err := profile.ParseDuration(c.value); kind == duration && err != nil {
		return condition{}, fmt.Errorf("--where %s: %v", shownCondition(s), err)
	}
	return c, nil
}

func shownCondition(s string) string { return strconv.Quote(protocol.CleanText(s, 100)) }
