package objects

import (
	"context"
	"strings"
	"testing"

	"locksmith/backends/backend"
	"locksmith/backends/generation"
	"locksmith/backends/owner"
	"locksmith/test/backendtest"
)

// A whole is a Lock as a backend, without what its bucket is asked for.
type whole struct{ *Lock }

func (whole) Examine(context.Context, backend.Examination, backend.Tell) error {
	panic("not of a lock alone")
}

func lockIn(s Store) *Lock { return &Lock{Env: owner.NewEnv(), Store: s, Address: "s3://bucket/lock"} }

func TestConformance(t *testing.T) {
	backendtest.Run(t, backendtest.Subject{New: func(*testing.T) backendtest.Fixture {
		f := newFake()
		return backendtest.Fixture{
			Open:      func() backend.Backend { return whole{lockIn(f)} },
			Leftovers: f.leftovers,
			Remove:    f.removeReservations,
			Abandon:   func(backend.Hold) {}, // a hold keeps nothing open
		}
	}})
}

// leftovers is what should not be left of a free lock: all but the newest generations.
func (f *fake) leftovers() (left []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	generations := 0
	for _, key := range f.keys() {
		if strings.HasPrefix(key, generationPrefix) {
			generations++
		} else {
			left = append(left, key)
		}
	}
	if generations > generation.Kept+2 {
		left = f.keys()
	}
	return left
}

func (f *fake) removeReservations() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, key := range f.keys() {
		if !strings.HasPrefix(key, generationPrefix) {
			delete(f.objects, key)
		}
	}
}
