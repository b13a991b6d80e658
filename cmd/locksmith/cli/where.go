package cli

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
	"locksmith/cmd/locksmith/cli/show"
	"locksmith/cmd/locksmith/profile"
)

// A condition is one --where: a key, a comparison and a value.
type condition struct{ key, sign, value string }

// String is what parseCondition reads.
func (c condition) String() string { return c.key + c.sign + c.value }

// A fieldKind is how values of a field are compared.
type fieldKind int

const (
	metadata fieldKind = iota // as what both values look like
	text
	number
	duration
)

// fields are the keys that are not metadata.
var fields = map[string]fieldKind{
	"user": text, "host": text, "id": text, "mode": text, "state": text, "verdict": text,
	"pid": number, "token": number,
	"age": duration, "heartbeat": duration, "lease": duration,
}

// words are the values of texts that have only a few.
var words = map[string][]string{
	"mode": {"shared", "exclusive"}, "state": {"held", "waiting"},
	"verdict": {"alive", "stopped", "dead", "orphaned", "unknown"},
}

const metaKey = "meta."

// signs has the longer ones first.
var signs = []string{"!=", "<=", ">=", "=", "<", ">"}

// parseCondition reads what --where says.
func parseCondition(s string) (condition, error) {
	wrong := func(why string) (condition, error) {
		return condition{}, fmt.Errorf("--where %s: %s", backend.Quoted(s), why)
	}
	i := strings.IndexAny(s, "!<>=")
	if i < 0 {
		return wrong("write key=value, or !=, <, >, <= or >= between")
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
		return wrong("write != for not")
	case kind == metadata && owner.CheckMeta(strings.TrimPrefix(c.key, metaKey)) != nil:
		return wrong(backend.Quoted(c.key) + " is not a key: use a to z, 0 to 9, _ . -")
	case c.sign == "=" && strings.HasPrefix(c.value, "="):
		return wrong("write one =")
	case kind == number && !isNumber(c.value):
		return wrong(c.key + " is compared with a number")
	case words[c.key] != nil && !slices.Contains(words[c.key], c.value):
		return wrong(c.key + " may be " + strings.Join(words[c.key], " or "))
	}
	if _, err := profile.ParseDuration(c.value); kind == duration && err != nil {
		return wrong(err.Error())
	}
	return c, nil
}

// matches compares with what is known of a holder or waiter. The token is the lock's.
func (c condition) matches(p show.Participant, token uint64) bool {
	have, known := valueOf(p, token, c.key)
	if !known {
		return c.sign == "!="
	}
	order := 0
	switch fields[c.key] {
	case text:
		order = strings.Compare(have, c.value)
	case duration:
		d, err1 := time.ParseDuration(have)
		want, err2 := profile.ParseDuration(c.value)
		if errors.Join(err1, err2) != nil {
			return false
		}
		order = cmp.Compare(d, want)
	default:
		order = compare(have, c.value)
	}
	switch c.sign {
	case "=":
		return order == 0
	case "!=":
		return order != 0
	case "<":
		return order < 0
	case ">":
		return order > 0
	case "<=":
		return order <= 0
	}
	return order >= 0
}

// valueOf returns the value of a field as it would be written; not known if there is none.
func valueOf(p show.Participant, token uint64, key string) (value string, known bool) {
	r := cmp.Or(p.Record, &owner.Record{})
	if fields[key] == metadata {
		for _, m := range r.Meta { // of several with the same key the last counts, as in JSON
			if m.Key == strings.TrimPrefix(key, metaKey) {
				value, known = m.Value, true
			}
		}
		return value, known
	}
	switch key {
	case "user":
		value = r.User
	case "host":
		value = r.Place.Host
	case "mode":
		value = r.Mode
	case "id":
		value = p.ID
	case "verdict":
		value = show.Verdict(p.Holder)
	case "state":
		value = "held"
		if p.Waits {
			value = "waiting"
		}
	case "pid":
		value = written(p.PID != 0, p.PID)
	case "token":
		value = written(token > 0 && !p.Waits, token)
	case "age":
		value = written(p.Age > 0 || p.Record != nil, p.Age)
	case "heartbeat":
		value = written(p.Heartbeat > 0, p.Heartbeat)
	case "lease":
		value = written(p.Lease > 0, p.Lease)
	}
	return value, value != ""
}

// written is a number or a duration, if it is known.
func written(known bool, n any) string {
	if !known {
		return ""
	}
	return fmt.Sprint(n)
}

// compare compares two values as what both look like: numbers, durations or text.
func compare(x, y string) int {
	if isNumber(x) && isNumber(y) {
		a, _ := new(big.Rat).SetString(x)
		b, _ := new(big.Rat).SetString(y)
		return a.Cmp(b)
	}
	a, ok1 := profile.ParseUnits(x)
	b, ok2 := profile.ParseUnits(y)
	if ok1 && ok2 {
		return cmp.Compare(a, b)
	}
	return strings.Compare(x, y)
}

func isNumber(s string) bool {
	whole, decimals, has := strings.Cut(strings.TrimPrefix(s, "-"), ".")
	return areDigits(whole) && (!has || areDigits(decimals))
}

// areDigits refuses text that would take long to compare, too.
func areDigits(s string) bool {
	return 0 < len(s) && len(s) <= 300 && strings.Trim(s, "0123456789") == ""
}
