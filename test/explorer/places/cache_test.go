//go:build unix

package places

import (
	"testing"

	"golang.org/x/sys/unix"

	"locksmith/test/explorer/steps"
)

func TestCacheRules(t *testing.T) {
	n := steps.NewNames()
	var server Tree
	server.Create(n, Entry{Name: n.Of("R")})
	name := n.Of("R/a")
	look := steps.Op{Kind: steps.OpReadlink, Name: name}
	var h Client
	h.Learn(n, look, steps.Failed(unix.ENOENT), false)
	server.Create(n, Entry{Name: name, Link: n.Of("x")})
	if !h.Misses(n, server, look) {
		t.Error("a cached miss is not outdated once another host made the name")
	}
	h.Learn(n, steps.Op{Kind: steps.OpList, Name: n.Of("R")}, steps.OK(0), true)
	if !h.Misses(n, server, look) {
		t.Error("a listing refreshes a name within one tick")
	}
	h.Learn(n, steps.Op{Kind: steps.OpSymlink, Name: name}, steps.Failed(unix.EEXIST), true)
	if h.Misses(n, server, look) {
		t.Error("a create that found the name does not refresh it")
	}
	h.Learn(n, look, server.readlink(name), false)
	server.Remove(n, steps.Op{Kind: steps.OpUnlink, Name: name}, 0)
	if _, found := h.Outdated(server, look); !found {
		t.Error("a removed symbolic link is not seen any more")
	}
	h.Learn(n, steps.Op{Kind: steps.OpLook, Name: n.Of("R")}, steps.OK(0), false)
	if _, found := h.Outdated(server, look); found {
		t.Error("a look at the directory does not refresh its names")
	}
}
