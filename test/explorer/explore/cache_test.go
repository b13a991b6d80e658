package explore

import (
	"testing"

	"golang.org/x/sys/unix"
)

func TestCacheRules(t *testing.T) {
	n := newNames()
	var server tree
	server.create(n, entry{name: n.of("R")})
	name := n.of("R/a")
	look := op{kind: opReadlink, name: name}
	var h host
	h.learn(n, look, failed(unix.ENOENT), false)
	server.create(n, entry{name: name, link: n.of("x")})
	if !h.misses(n, server, look) {
		t.Error("a cached miss is not outdated once another host made the name")
	}
	h.learn(n, op{kind: opList, name: n.of("R")}, ok(0), true)
	if !h.misses(n, server, look) {
		t.Error("a listing refreshes a name within one tick")
	}
	h.learn(n, op{kind: opSymlink, name: name}, failed(unix.EEXIST), true)
	if h.misses(n, server, look) {
		t.Error("a create that found the name does not refresh it")
	}
	h.learn(n, look, server.readlink(name), false)
	server.remove(n, op{kind: opUnlink, name: name}, 0)
	if _, found := h.outdated(server, look); !found {
		t.Error("a removed symbolic link is not seen any more")
	}
	h.learn(n, op{kind: opLook, name: n.of("R")}, ok(0), false)
	if _, found := h.outdated(server, look); found {
		t.Error("a look at the directory does not refresh its names")
	}
}
