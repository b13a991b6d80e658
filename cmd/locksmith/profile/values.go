package profile

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"locksmith/backends/backoff"
	"locksmith/backends/owner"
)

// ParseDuration parses a duration as people write it here and on the command line: "1m30s",
// "1d12h", "2w", or a number of seconds. A day has 24 hours. Its error says how to write a
// duration.
func ParseDuration(text string) (time.Duration, error) {
	if n, err := strconv.ParseFloat(text, 64); err == nil && n >= 0 && n < owner.MaxLease.Seconds() {
		return time.Duration(n * float64(time.Second)), nil
	}
	if d, ok := ParseUnits(text); ok && d >= 0 {
		return d, nil
	}
	return 0, errors.New("write seconds, or a duration like 90s or 1h30m or 7d")
}

// ParseUnits parses what time.ParseDuration does, with weeks and days before that.
func ParseUnits(text string) (sum time.Duration, ok bool) {
	for _, unit := range []struct {
		letter string
		long   time.Duration
	}{{"w", 7 * 24 * time.Hour}, {"d", 24 * time.Hour}} {
		number, rest, has := strings.Cut(text, unit.letter)
		if !has {
			continue
		}
		n, err := strconv.ParseUint(number, 10, 13) // too few bits to overflow
		if err != nil {
			return 0, false
		}
		sum, text = sum+time.Duration(n)*unit.long, rest
		if text == "" {
			return sum, true
		}
	}
	d, err := time.ParseDuration(text)
	return sum + d, err == nil && (sum == 0 || d >= 0)
}

// shortestPause keeps a waiter from asking without a pause.
const shortestPause = time.Millisecond

// ParseRange parses a range of pauses: "25ms..100ms", or "50ms". Its error says how to write a
// range.
func ParseRange(text string) (backoff.Range, error) {
	from, to, isRange := strings.Cut(text, "..")
	if !isRange {
		to = from
	}
	least, err1 := ParseDuration(from)
	most, err2 := ParseDuration(to)
	if err := errors.Join(err1, err2); err != nil || least < shortestPause || most < least {
		return backoff.Range{}, errors.New("write MIN..MAX, as in 25ms..100ms, with MIN at least 1ms")
	}
	return backoff.Range{Min: least, Max: most}, nil
}

// ParseCount parses how often something may happen. Its error says how to write that.
func ParseCount(text string) (int, error) {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil || n == math.MaxInt32 {
		return 0, errors.New("write a number from 0")
	}
	return int(n), nil
}

// nearest returns the known words of which word may be a misspelling or the beginning, three at
// most.
func nearest(word string, known []string) []string {
	var near []string
	for _, k := range known {
		slips := distance(strings.ToLower(word), strings.ToLower(k))
		begun := len(word) >= 3 && strings.HasPrefix(k, word)
		if begun || slips <= max(1, len(word)/3) {
			near = append(near, k)
		}
	}
	return near[:min(len(near), 3)]
}

// distance counts the letters to insert, remove or replace to make b of a (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
