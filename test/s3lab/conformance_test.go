//go:build unix

package s3lab

import (
	"fmt"
	"sync/atomic"
	"testing"

	"locksmith/backends/backend"
	"locksmith/test/backendtest"
)

// conformance: at the store the backend passes the conformance suite.
func conformance(t *testing.T, name string) {
	s := open(t, name)
	var places atomic.Int32
	backendtest.Run(t, backendtest.Subject{New: func(t *testing.T) backendtest.Fixture {
		p := place{s, s.endpoint, fmt.Sprintf("suite/%d", places.Add(1))}
		return backendtest.Fixture{
			Open:      func() backend.Backend { return p.open(t) },
			Leftovers: func() []string { return p.leftovers(t) },
			Remove:    func() { p.removeReservations(t) },
			Abandon:   func(backend.Hold) {}, // a hold keeps nothing open
		}
	}})
}
