//go:build unix

package soak

import (
	"time"

	"locksmith/backends/backend"
	"locksmith/backends/generation/symlinks"
	"locksmith/backends/link"
	"locksmith/backends/member"
	"locksmith/backends/mkdirlock"
	"locksmith/backends/owner"
	"locksmith/backends/set"
)

// A kind is a kind of lock, or of a set of locks.
type kind struct {
	name    string
	open    func(*helper) backend.Locker
	locks   int           // 1, or how many a set has
	shared  bool          // it can be
	tokens  bool          // a lock that is not in a set has some
	silent  bool          // a waiter gives no sign of life, so that only proof tells that it is dead
	refresh time.Duration // between two heartbeats, at most; 0: a quarter of the lease
	respite time.Duration // how long to watch somebody who seems dead
}

// kinds returns the kinds that need only a directory.
func kinds() []kind {
	return []kind{
		{name: "nfs", locks: 1, open: (*helper).nfs, shared: true, tokens: true},
		{name: "mkdir plain", locks: 1, open: (*helper).plain, silent: true},
		{name: "mkdir dir", locks: 1, open: (*helper).tree, shared: true, tokens: true},
		{name: "link", locks: 1, open: (*helper).link, refresh: linkRefresh, respite: linkRespite},
		{name: "set of three", locks: 3, open: (*helper).set, refresh: linkRefresh, respite: linkRespite},
	}
}

// The usual time between two heartbeats of link:, and the shortest time for which it watches the
// file of a holder that seems dead.
const (
	linkRefresh = 8 * time.Second
	linkRespite = 32 * time.Second
)

func (h *helper) nfs() backend.Locker {
	return h.shaky(&symlinks.Lock{Dir: generations{h.client}, Address: "nfs:/L",
		Env: owner.Env{NewID: owner.NewID, Judge: h.judge, Today: time.Now}})
}

func (h *helper) plain() backend.Locker { return h.shaky(h.directories(mkdirlock.PlainStyle)) }
func (h *helper) tree() backend.Locker  { return h.shaky(h.directories(mkdirlock.DirStyle)) }

func (h *helper) directories(s mkdirlock.Style) backend.Locker {
	return &mkdirlock.Lock{NewDir: h.connect, Name: "L", Style: s, Tokens: true, Address: "mkdir:/L",
		Pace: mkdirlock.Pace{Min: 250 * time.Millisecond, Max: 10 * time.Second}, // as on a server of FTP
		Env:  owner.Env{NewID: owner.NewID, Judge: h.judge, Today: time.Now}}
}

func (h *helper) link() backend.Locker {
	return h.shaky(&link.Lock{NewFS: func() link.FS { return files{h.client} }, Name: "L", Address: "link:/L",
		Env: owner.Env{NewID: owner.NewID, Judge: h.judge, Today: time.Now}})
}

// set returns a set of one lock of each other kind, in directories of their own.
func (h *helper) set() backend.Locker {
	var locks []member.Lock
	for name, open := range map[string]func(*helper) backend.Locker{"nfs": (*helper).nfs, "mkdir": (*helper).tree, "link": (*helper).link} {
		its := *h // with the same life
		its.client = h.below(name)
		locks = append(locks, member.Lock{Address: name, Locker: open(&its), Key: func() string { return name },
			Ask: func(r backend.Request) backend.Request { return r }})
	}
	s, err := set.New(locks)
	if err != nil {
		h.site.t.Error(err)
	}
	return s
}

func (h *helper) shaky(l backend.Locker) backend.Locker { return shaky{l, h.holds.Load} }
