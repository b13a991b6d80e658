package profile

import (
	"errors"
	"strconv"
	"time"

	"locksmith/backends/owner"
)

// ParseDuration reads a duration as people write it here and on the command
// line: "1m30s", or a number of seconds. Its error says how to write one.
func ParseDuration(text string) (time.Duration, error) {
	if n, err := strconv.ParseFloat(text, 64); err == nil && n >= 0 && n < owner.MaxLease.Seconds() {
		return time.Duration(n * float64(time.Second)), nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, errors.New("write seconds, or a duration like 90s or 1h30m")
	}
	return d, nil
}
