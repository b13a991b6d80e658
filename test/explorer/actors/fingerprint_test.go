//go:build unix

package actors

import (
	"testing"
	"time"
)

// Equal values have equal fingerprints, however they came about. The smallest difference shows.
func TestFingerprint(t *testing.T) {
	type inner struct{ m map[string]*int }
	one, uno, two := 1, 1, 2
	a := &inner{map[string]*int{"a": &one, "b": &two}}
	b := &inner{map[string]*int{"b": &two, "a": &uno}}
	if fingerprint(a, time.Unix(5, 0)) != fingerprint(b, time.Unix(5, 0).UTC()) {
		t.Error("equal values differ")
	}
	b.m["b"] = &one
	if fingerprint(a) == fingerprint(b) {
		t.Error("a difference behind a pointer in a map does not show")
	}
}
