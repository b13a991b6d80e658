package cli

import (
	"cmp"
	"math/big"
	"strconv"
	"strings"
	"time"

	"locksmith/cmd/locksmith/profile"
)

// matches compares with what is known of somebody. The token is the lock's.
func (c condition) matches(p presence, token uint64) bool {
	if d, ok := durationOf(p, c.key); ok {
		want, err := profile.ParseDuration(c.value)
		return err == nil && c.holds(cmp.Compare(d, want))
	}
	have, ok := textOf(p, token, c.key)
	if !ok {
		return c.sign == "!="
	}
	if fields[c.key] == text {
		return c.holds(strings.Compare(have, c.value))
	}
	return c.holds(compare(have, c.value))
}

// holds reports that the sign is true of the outcome of a comparison.
func (c condition) holds(order int) bool {
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

// durationOf returns the value of a field that is a duration; not ok if it is
// another, or unknown.
func durationOf(p presence, key string) (d time.Duration, ok bool) {
	switch key {
	case "age":
		return p.Age, p.Age > 0 || p.Record != nil
	case "heartbeat":
		return p.Heartbeat, p.Heartbeat > 0
	case "lease":
		return p.Lease, p.Lease > 0
	}
	return 0, false
}

// textOf returns any other value, as it would be printed; not ok if it is unknown.
func textOf(p presence, token uint64, key string) (value string, ok bool) {
	if fields[key] == metadata {
		return metaOf(p, strings.TrimPrefix(key, metaKey))
	}
	switch key {
	case "id":
		value = p.ID
	case "state":
		value = "held"
		if p.waits {
			value = "waiting"
		}
	case "verdict":
		value = string(p.Verdict)
	case "pid":
		value = positive(uint64(p.PID))
	case "token":
		if !p.waits {
			value = positive(token)
		}
	default:
		value = recorded(p, key)
	}
	return value, value != ""
}

// recorded returns a text of the record.
func recorded(p presence, key string) string {
	if p.Record == nil {
		return ""
	}
	switch key {
	case "user":
		return p.Record.User
	case "host":
		return p.Record.Place.Host
	case "mode":
		return p.Record.Mode
	}
	return ""
}

// metaOf returns metadata. Of several with the same key the last counts, as in JSON.
func metaOf(p presence, key string) (value string, ok bool) {
	if p.Record == nil {
		return "", false
	}
	for _, m := range p.Record.Meta {
		if m.Key == key {
			value, ok = m.Value, true
		}
	}
	return value, ok
}

func positive(n uint64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatUint(n, 10)
}

// compare compares two values as what both look like: numbers, durations or text.
func compare(x, y string) int {
	if isNumber(x) && isNumber(y) {
		a, _ := new(big.Rat).SetString(x)
		b, _ := new(big.Rat).SetString(y)
		return a.Cmp(b)
	}
	a, err1 := time.ParseDuration(x)
	b, err2 := time.ParseDuration(y)
	if err1 == nil && err2 == nil {
		return cmp.Compare(a, b)
	}
	return strings.Compare(x, y)
}

func isNumber(s string) bool {
	whole, decimals, has := strings.Cut(strings.TrimPrefix(s, "-"), ".")
	return areDigits(whole) && (!has || areDigits(decimals))
}

// areDigits refuses what would take long to compare, too.
func areDigits(s string) bool {
	return 0 < len(s) && len(s) <= 300 && strings.Trim(s, "0123456789") == ""
}
