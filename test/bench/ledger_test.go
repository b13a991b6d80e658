package main

import (
	"errors"
	"path/filepath"
	"testing"
)

// TestLedger makes sure that the benchmark would notice a lost update.
func TestLedger(t *testing.T) {
	for _, x := range []struct {
		name, counter, log string
		killed, lost       bool
	}{
		{"in order", "3\n", "1 a\n2 b\n3 a\n", false, false},
		{"a number twice", "2\n", "1 a\n2 b\n2 a\n", false, true},
		{"a number twice, and killed", "2\n", "1 a\n2 b\n2 a\n", true, true},
		{"counter behind", "2\n", "1 a\n2 b\n3 a\n", false, true},
		{"counter torn", "", "1 a\n", false, true},
		{"counter torn by a kill", "", "1 a\n", true, false},
		{"counter ahead by a kill", "2\n", "1 a\n", true, false},
		{"torn log", "2\n", "1 a\nx\n", false, true},
	} {
		l, err := newLedger(filepath.Join(t.TempDir(), "ledger"))
		if err == nil {
			err = errors.Join(l.write("counter", x.counter), l.write("log", x.log))
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := l.check(x.killed); errors.Is(err, errLostUpdate) != x.lost || !x.lost && err != nil {
			t.Errorf("%s: %v", x.name, err)
		}
	}
}

func TestAccount(t *testing.T) {
	l, err := newLedger(filepath.Join(t.TempDir(), "ledger"))
	if err == nil {
		err = l.write("log", "1 a\n2 a\n3 b\n4 a\n5")
	}
	if err != nil {
		t.Fatal(err)
	}
	if a, err := l.account(); err != nil || a.increments != 4 || a.handoffs != 2 {
		t.Errorf("%+v, %v", a, err)
	}
}
