package mkdirlock

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"locksmith/backends/mkdirlock/labels"
	"locksmith/backends/owner"
)

func FuzzNames(f *testing.F) {
	l := Lock{Name: "L"}
	t := labels.Ticket{Lease: time.Minute, ID: owner.NewID()}
	for _, name := range []string{labels.Entry{Kind: labels.Exclusive, Ticket: t}.String(), labels.Entry{Kind: labels.Shared, Ticket: t}.String(), l.reservation(t), labels.FenceName(7), "x.60000-" + strings.Repeat("A", 32), "fence.01"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if e, ok := labels.ParseEntry(name); ok && e.String() != name {
			t.Errorf("the entry %q is written back as %q", name, e)
		}
		if w, ok := l.parseReservation(name); ok && l.reservation(w) != name {
			t.Errorf("the reservation %q is written back as %q", name, l.reservation(w))
		}
		if n, ok := labels.ParseFence(name); ok && labels.FenceName(n) != name {
			t.Errorf("the token %q is written back as %q", name, labels.FenceName(n))
		}
		if n, parts, first, ok := labels.ParseBeat(name); ok && (parts < 1 || parts > labels.MaxParts || !strings.HasSuffix(name, "."+first)) {
			t.Errorf("the heartbeat %q is read as %s", name, fmt.Sprint(n, parts, first))
		}
	})
}
