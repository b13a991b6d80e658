//go:build unix

package mkdirlock

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/mkdirlock/labels"
	"locksmith/backends/shelf"
)

// coarse is a directory of a server that tells times to the minute.
type coarse struct {
	dirs.StatDir
	age  time.Duration // of all successes
	user uint32        // whose they are
}

func (d coarse) Entries(ctx context.Context, name string) ([]dirs.Entry, error) {
	all, err := d.StatDir.Entries(ctx, name)
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for i, e := range all {
		all[i].Modified, all[i].Precise = now, false
		if _, ok := labels.ParseSuccess(e.Name); ok {
			all[i].Modified, all[i].User = now.Add(-d.age).Truncate(time.Minute), d.user
		}
	}
	return all, err
}

// TestSuccessToTheMinute: a success counts as no older than it surely is. A success that only
// local time may have put into the future does not count as one from the future.
func TestSuccessToTheMinute(t *testing.T) {
	path := t.TempDir() + "/L"
	l := openDirStyle(t, path)
	h := tryDirStyle(t, path).(*hold)
	mustWork(t, shelf.Record(t.Context(), l, h))
	plain := h.dir.(dirs.StatDir)
	for age, want := range map[time.Duration]time.Duration{
		0: 0, time.Minute: 0, 3 * time.Minute: 2 * time.Minute, 2 * time.Hour: 2*time.Hour - time.Minute,
		-time.Hour: 0, -2 * time.Hour: -2 * time.Hour,
	} {
		h.dir = coarse{plain, age, 64011}
		if last, err := shelf.Last(t.Context(), l, h); err != nil || last == nil || last.Ago != want || last.By != "64011" {
			t.Errorf("another user's success %v ago is told as %+v, %v", age, last, err)
		}
	}
	h.dir = plain
	mustRelease(t, h)
}

// TestSuccessLeavesNoMoreThanOne: only one success stays, also after a holder that came too late
// to remove the others'.
func TestSuccessLeavesNoMoreThanOne(t *testing.T) {
	path := t.TempDir() + "/L"
	l := openDirStyle(t, path)
	h := tryDirStyle(t, path).(*hold)
	late := labels.Succeeded{Number: 1, ID: strings.Repeat("0a", 16), At: 0, Host: "late"}
	mustWork(t, shelf.Record(t.Context(), l, h), h.dir.Mkdir(t.Context(), l.Name+"/"+late.String()), shelf.Record(t.Context(), l, h))
	names, err := h.dir.List(t.Context(), l.Name)
	names = slices.DeleteFunc(names, func(n string) bool { return !strings.HasPrefix(n, labels.SuccessPrefix) })
	if err != nil || len(names) != 1 || !strings.HasPrefix(names[0], "done.2."+h.ID()) {
		t.Errorf("the successes that stay are %q, %v; want the last holder's", names, err)
	}
	mustRelease(t, h)
}

// TestOtherKeeper: a record that another user keeps is told as that user's.
func TestOtherKeeper(t *testing.T) {
	needRoot(t)
	path := t.TempDir() + "/L"
	l := openDirStyle(t, path)
	h := tryDirStyle(t, path).(*hold)
	entries, err := filepath.Glob(path + "/*/x.*")
	mustWork(t, err)
	for _, e := range entries {
		mustWork(t, os.Chown(e, 64011, 64011))
	}
	r, err := l.Read(t.Context())
	if err != nil || len(r.Holders) != 1 || !strings.Contains(r.Holders[0].String(), "in a file of 64011") {
		t.Errorf("the report is %v, %v", r, err)
	}
	mustRelease(t, h)
}
