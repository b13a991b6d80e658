//go:build unix

package link

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
)

// A hold is a lock file that is our claim.
type hold struct {
	lock   *Lock
	fs     FS
	claim  *claim
	others watcher // for Tend only

	// Tend may hang. Then the other methods are called beside it.
	mu        sync.Mutex
	file      File      // nil: not open
	now       time.Time // by the server's clock, at the last heartbeat
	claimGone bool      // the claim's own name is gone
	left      []leftover
	crowded   bool // too much is around the lock to be listed again and again
	asked     bool // the request to remove the lock was sent; the answer was lost
	gone      bool // it is not ours any more
}

// ID implements backend.Hold.
func (h *hold) ID() string { return h.claim.record.ID }

// Token implements backend.Hold: a lone file has no generation.
func (h *hold) Token() uint64 { return 0 }

// Heartbeat implements backend.Hold.
func (h *hold) Heartbeat(context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.gone {
		return h.lock.lost("refresh the lock file")
	}
	if err := h.beat(); err != nil {
		return err
	}
	_ = h.removeClaim()
	h.left = slices.DeleteFunc(h.left, func(x leftover) bool { return x.remove(h.fs) })
	return nil
}

// beat is a heartbeat. A server says ESTALE of an open file that was removed; or that it has
// forgotten, and then the name and our record in it tell.
func (h *hold) beat() error {
	err := h.refresh()
	if errors.Is(err, unix.ESTALE) {
		h.closeFile()
		err = h.refresh()
	}
	return h.explain("refresh the lock file", err)
}

// refresh touches our file, not what has its name. Then it makes sure that the lock's name still
// leads to the file.
func (h *hold) refresh() error {
	//rule:open
	if err := h.open(); err != nil {
		return err
	}
	if err := h.touch(); err != nil {
		return err
	}
	//rule:names
	there, err := h.fs.Stat(h.lock.Name)
	//rule:same
	if err == nil && !there.Same(h.claim.stat) {
		err = errAbsent
	}
	return err
}

// open gets hold of our file by the lock's name. Holding it by its other name would keep that
// name from being removed on NFS, where a file in use is only renamed.
func (h *hold) open() error {
	if h.file != nil {
		return nil
	}
	f, err := h.fs.Open(h.lock.Name)
	if err != nil {
		return err
	}
	h.file = f
	err = h.verify()
	if err != nil {
		h.closeFile()
	}
	return err
}

// verify makes sure that the lock is our file: by number, and by its record, because numbers are
// used again.
func (h *hold) verify() error {
	st, text, err := h.fs.Read(h.lock.Name)
	if err != nil {
		if st, err := h.fs.Stat(h.lock.Name); err == nil && !st.Same(h.claim.stat) {
			return errAbsent // it is something that cannot be read
		}
		return err
	}
	//rule:same
	if !st.Same(h.claim.stat) || !parse(text).Holds(h.ID()) {
		return errAbsent
	}
	if h.file == nil {
		return nil
	}
	st, err = h.file.StatServer()
	if err == nil && !st.Same(h.claim.stat) {
		err = errAbsent
	}
	return err
}

// touch sets the file's time to the server's now, or a lease later.
func (h *hold) touch() error {
	if err := h.file.Touch(); err != nil {
		return err
	}
	st, err := h.file.StatServer()
	switch {
	case err != nil:
		return err
	//rule:links
	case st.Links == 0:
		return errAbsent
	}
	h.now = st.Modified
	if !h.lock.Ahead {
		return nil
	}
	return h.file.SetTime(h.now.Add(h.claim.record.Lease))
}

// removeClaim removes the claim's own name.
func (h *hold) removeClaim() error {
	if h.claimGone {
		return nil
	}
	//rule:unlink
	err := h.claim.remove()
	h.claimGone = err == nil
	return err
}

func (h *hold) closeFile() {
	if h.file != nil {
		_ = h.file.Close()
	}
	h.file = nil
}

// explain turns the outcome of a call on the lock into what is known of the hold.
func (h *hold) explain(op string, err error) error {
	switch {
	case err == nil:
		return nil
	case absent(err), errors.Is(err, errAbsent):
		h.closeFile()
		_ = h.removeClaim()
		//rule:gone
		h.gone = true
		h.fs.Close()
		return h.lock.lost(op)
	}
	return h.lock.fail(op, err)
}

// Release implements backend.Hold.
func (h *hold) Release(context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.gone {
		return h.lock.lost("remove the lock file")
	}
	h.closeFile() // on NFS a file in use is not removed, but renamed
	// Before the lock: a request to link the claim that is executed late must fail.
	if err := h.removeClaim(); err != nil {
		return err
	}
	if err := h.remove(); err != nil {
		return err
	}
	for _, x := range h.left {
		_ = x.remove(h.fs) // or somebody tends to it when we are gone
	}
	return nil
}

// remove removes the lock if it is ours. If it is not there, we may have removed it ourselves,
// and the answer was lost.
func (h *hold) remove() error {
	const op = "remove the lock file"
	//rule:verify
	err := h.verify()
	if err == nil {
		err = h.fs.Unlink(h.lock.Name)
		if absent(err) {
			err = nil // a repeated request says so
		}
		h.asked = h.asked || backend.Unclear(err)
	}
	switch is := absent(err) || errors.Is(err, errAbsent); {
	case err == nil, is && h.asked:
		h.gone = true
		h.fs.Close()
		return nil
	}
	return h.explain(op, err)
}

var _ backend.Hold = (*hold)(nil)
