package objects

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
)

// A success is kept as an object s.<N>-<id>, whose content is the record of the holder that
// had generation N. Its age is told by the store's times alone: it is compared with a
// heartbeat that was written just now.

// successOf is the key of one.
func successOf(n uint64, id string) string { return fmt.Sprintf("%s%020d-%s", successPrefix, n, id) }

// parseSuccess returns the generation whose holder succeeded.
func parseSuccess(key string) (uint64, bool) {
	rest, ok := strings.CutPrefix(key, successPrefix)
	digits, id, _ := strings.Cut(rest, "-")
	n, err := strconv.ParseUint(digits, 10, 64)
	return n, ok && err == nil && owner.IsID(id) && successOf(n, id) == key
}

// success returns the one with the greatest number; not ok if there is none.
func (v view) success() (newest Object, ok bool) {
	most := uint64(0)
	for _, o := range v.successes {
		if n, valid := parseSuccess(o.Key); valid && n > most && n <= v.newest() {
			newest, most, ok = o, n, true
		}
	}
	return newest, ok
}

var _ backend.SuccessKeeper = (*Lock)(nil)

// LastSuccess implements backend.SuccessKeeper.
func (l *Lock) LastSuccess(ctx context.Context, held backend.Hold) (*backend.Success, error) {
	h := held.(*hold)
	if err := h.Heartbeat(ctx); err != nil {
		return nil, err
	}
	v, err := l.list(ctx)
	if err != nil {
		return nil, err
	}
	last, ok := v.success()
	if !ok {
		return nil, nil
	}
	now, told := v.beats[h.claim.ticket.beat()]
	if !told {
		return nil, l.fail("find out the store's time", errors.New("the listing lacks our heartbeat"))
	}
	return &backend.Success{Ago: now.Modified.Sub(last.Modified), Host: l.hostOf(ctx, last)}, nil
}

// hostOf is who succeeded; "" if that cannot be read.
func (l *Lock) hostOf(ctx context.Context, success Object) string {
	_, content, err := l.Store.Get(ctx, success.Key)
	if err != nil {
		return ""
	}
	r, _ := owner.ParseRecord(string(content))
	return r.Place.Host
}

// RecordSuccess implements backend.SuccessKeeper. A request that is executed late makes an
// object with a number that counts no longer.
func (l *Lock) RecordSuccess(ctx context.Context, held backend.Hold) error {
	h := held.(*hold)
	if err := h.Heartbeat(ctx); err != nil {
		return err
	}
	ours := successOf(h.number, h.ID())
	if err := l.Store.Put(ctx, ours, []byte(h.claim.record)); err != nil {
		return l.fail("record the success", err)
	}
	if v, err := l.list(ctx); err == nil {
		_ = l.forgetSuccesses(ctx, v, ours) // it is on record; the next one tries again
	}
	return nil
}

// forgetSuccesses removes those up to one, which stays.
func (l *Lock) forgetSuccesses(ctx context.Context, v view, but string) error {
	newest, _ := parseSuccess(but)
	for _, o := range v.successes {
		if n, ok := parseSuccess(o.Key); ok && o.Key != but && (n <= newest || but == "") {
			if err := l.Store.Delete(ctx, o.Key); err != nil {
				return l.fail("remove an older success", err)
			}
		}
	}
	return nil
}

// lastSuccess is the last one, for people.
func (l *Lock) lastSuccess(ctx context.Context, v view) *backend.Success {
	last, ok := v.success()
	if !ok {
		return nil
	}
	return &backend.Success{Ago: l.Today().Sub(last.Modified), Host: l.hostOf(ctx, last)}
}
