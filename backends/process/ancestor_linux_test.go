package process

import (
	"os"
	"testing"
)

func TestIsAncestor(t *testing.T) {
	parent, err := Find(os.Getppid())
	if err != nil {
		t.Fatal(err)
	}
	if !IsAncestor(parent) {
		t.Error("the parent is no ancestor")
	}
	if grand, ok := parentOf(parent.PID); ok && grand > 0 && !IsAncestor(Process{PID: grand}) {
		t.Error("its parent is no ancestor")
	}
	_, child := start(t)
	self, _ := Find(os.Getpid())
	for _, p := range []Process{{}, self, child, {PID: parent.PID, Start: parent.Start + 1}} {
		if IsAncestor(p) {
			t.Errorf("%v is an ancestor", p)
		}
	}
}
