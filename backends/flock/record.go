//go:build unix

package flock

import (
	"locksmith/backends/lockfile"
	"locksmith/backends/owner"
	"locksmith/backends/process"
)

// sign writes a text into a locked file, if the file is empty or holds another record of this kind,
// and nothing else. It does not matter if the write fails. sign reports whether the file is for
// records. If it is not, no heartbeat may sign it either: a file that holds data now may be empty for
// the moment in which its program writes it anew.
func (l *Lock) sign(f *lockfile.File, text string) bool {
	st, err := f.Stat()
	if err != nil || st.Kind != "" || st.Links > 1 { // a hard link may lead to a file of ours, put there by another user
		return false
	}
	old, err := f.Text()
	if err != nil || !isPlain(old) {
		return false
	}
	if old == text {
		return true
	}
	w, err := lockfile.OpenWritable(l.path) // follows no link: another user may have put one there
	if err != nil {
		return false
	}
	defer w.Close()
	if there, err := w.Stat(); err != nil || !there.Same(st) {
		return false
	}
	if len(old) > len(text) && w.Truncate() != nil {
		return true
	}
	if w.Write(text) != nil { // a part of a record is no record: sign would never replace it
		_ = w.Truncate()
	}
	return true
}

// beside tells of a lock of fcntl(2) on the file, which does not exclude ours. On a server's file system
// the two may be one.
func (l *Lock) beside(f *lockfile.File) string {
	pid, locked := f.RecordLocker()
	if l.anyFS || !locked {
		return ""
	}
	who := "somebody"
	if pid > 0 {
		who = owner.Named([]process.Process{{PID: pid}})
	}
	return who + " has the file locked by fcntl(2), as lckdo, dpkg and apt do: that lock and flock: do not exclude each other"
}

// recordIn is the record that a text is, if it is one of this kind and nothing else.
func recordIn(text string) *owner.Record {
	r, err := owner.ParseRecord(text)
	if err != nil || r.Kind != Scheme {
		return nil
	}
	return &r
}

// record is the record in the file, if there is one.
func (l *Lock) record() *owner.Record {
	f, err := lockfile.Open(l.path)
	if err != nil {
		return nil
	}
	defer f.Close()
	return recordOf(f)
}

// recordOf is the record in an open file, if there is one.
func recordOf(f *lockfile.File) *owner.Record {
	st, err := f.Stat()
	if err != nil || st.Kind != "" {
		return nil
	}
	text, err := f.Text()
	if err != nil {
		return nil
	}
	r := recordIn(text)
	if r != nil {
		r.Keeper = st.User
	}
	return r
}

// isPlain reports whether a text is only a lock's: nothing, or a record.
func isPlain(text string) bool { return text == "" || recordIn(text) != nil }
