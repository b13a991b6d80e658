// Package where compares holders and waiters with what --where says.
package where

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/condition"
	"locksmith/backends/owner"
	"locksmith/cmd/locksmith/cli/show"
	"locksmith/cmd/locksmith/profile"
)

// A Condition is the value of one --where: a key, a comparison and a value.
type Condition struct{ Key, Sign, Value string }

// String is what Parse reads.
func (c Condition) String() string { return c.Key + c.Sign + c.Value }

// A fieldKind says how a field's values are compared.
type fieldKind int

const (
	metadata fieldKind = iota // as both values look: numbers, durations or text
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
	"verdict": {"alive", "stopped", "dead", leftOver, "unknown"},
}

const (
	leftOver = string(owner.Orphaned)
	metaKey  = "meta."
)

// also are other words for a value: the one that older versions had, and one without a space.
var also = map[string]string{"orphaned": leftOver, "left-over": leftOver}

// signs has the longer signs first.
var signs = []string{"!=", "<=", ">=", "=", "<", ">"}

// Parse reads what --where says.
func Parse(s string) (Condition, error) {
	wrong := func(why string) (Condition, error) {
		return Condition{}, fmt.Errorf("--where %s: %s", backend.Quoted(s), why)
	}
	i := strings.IndexAny(s, "!<>=")
	if i < 0 {
		return wrong("write key=value, or !=, <, >, <= or >= between")
	}
	c := Condition{Key: s[:i]}
	for _, sign := range signs {
		if strings.HasPrefix(s[i:], sign) {
			c.Sign, c.Value = sign, s[i+len(sign):]
			break
		}
	}
	kind := fields[c.Key]
	if words[c.Key] != nil {
		c.Value = cmp.Or(also[c.Value], c.Value)
	}
	switch {
	case c.Sign == "":
		return wrong("write != for not")
	case kind == metadata && owner.CheckMeta(strings.TrimPrefix(c.Key, metaKey)) != nil:
		return wrong(backend.Quoted(c.Key) + " is not a key: use a to z, 0 to 9, _ . -")
	case c.Sign == "=" && strings.HasPrefix(c.Value, "="):
		return wrong("write one =")
	case kind == number && !isNumber(c.Value):
		return wrong(c.Key + " is compared with a number")
	case words[c.Key] != nil && !slices.Contains(words[c.Key], c.Value):
		return wrong(c.Key + " may be " + strings.Join(words[c.Key], " or "))
	}
	if _, err := profile.ParseDuration(c.Value); kind == duration && err != nil {
		return wrong(err.Error())
	}
	return c, nil
}

// Matches reports whether what is known of a holder or waiter meets the condition. token is the
// lock's.
func (c Condition) Matches(p show.Participant, token uint64) bool {
	have, known := valueOf(p, token, c.Key)
	if !known {
		return c.Sign == "!="
	}
	order := 0
	switch fields[c.Key] {
	case text:
		order = strings.Compare(have, c.Value)
	case duration:
		d, err1 := time.ParseDuration(have)
		want, err2 := profile.ParseDuration(c.Value)
		if errors.Join(err1, err2) != nil {
			return false
		}
		order = cmp.Compare(d, want)
	default:
		order = compare(have, c.Value)
	}
	return strings.Contains(c.Sign, "<=>"[order+1:order+2]) != (c.Sign == "!=")
}

// valueOf returns the value of a field as it would be written; not known if there is none.
func valueOf(p show.Participant, token uint64, key string) (value string, known bool) {
	r := cmp.Or(p.Record, &owner.Record{})
	if fields[key] == metadata {
		for _, m := range r.Meta { // of several entries with the same key the last counts, as in JSON
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
		value = condition.Of(p.Holder).Verdict()
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

// written returns a number or a duration as text, if it is known.
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

// areDigits reports whether a text has only digits, and no more of them than are compared
// quickly.
func areDigits(s string) bool {
	return 0 < len(s) && len(s) <= 300 && strings.Trim(s, "0123456789") == ""
}
