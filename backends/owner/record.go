package owner

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"locksmith/backends/process"
	"locksmith/protocol"
)

const (
	recordWord = "LOCK"
	metaPrefix = "meta."
	// RecordVersion is the version of records. It rises when older versions of locksmith cannot read
	// newer records: they then take such a lock for held by somebody unknown.
	RecordVersion = "1"
)

// ErrRecord is wrapped by every error that says that a record does not parse. A lock with such a
// record is held by somebody unknown; it is not free.
var ErrRecord = errors.New("not a locksmith record")

// A Record says who holds or wants a lock. Its text form is one line in the protocol's grammar,
// at most protocol.MaxLine bytes:
//
//	LOCK v=1 id=… kind=flock host=web3 machine=… boot=… pidns=… timens=… pid=7 start=123
//	     ppid=6 pstart=99 lifeline=… user=alice mode=exclusive lease_ms=60000
//	     refresh_ms=8000 max_hold_ms=7200000 program=billing.pl at=2026-01-02T03:04:05.678Z meta.job=nightly
//
// A reader ignores fields that it does not know, so later versions can add some.
type Record struct {
	ID string // names this acquisition; see NewID
	// Kind is the lock's kind, in a record that must tell it: the record of a flock: lock stays when
	// the lock is free, while in other kinds a record means a holder. In all other records it is
	// empty.
	Kind   string
	Place  Place // the kernel the processes below live on
	Helper process.Process
	// Parent is the program for which the helper holds the lock. There is none if the helper
	// itself guards a command, which dies with the helper.
	Parent process.Process
	// NoProof tells others not to conclude death from processes: the work may go on without
	// helper and parent.
	NoProof bool
	// Lifeline names what the command of a guarding helper inherits, and all that the command
	// starts (process.NewLifeline). While any of these processes lives, nobody may conclude
	// death. Empty: there is no lifeline.
	Lifeline string
	User     string
	// Program is the name of the program for which the lock is held, without path and arguments;
	// empty: not known. For people.
	Program string
	Mode    string // "exclusive" or "shared"
	Lease   time.Duration
	// Refresh is the time between heartbeats, if it is less than a quarter of the lease; 0: a
	// quarter of the lease.
	Refresh time.Duration
	// MaxHold is how long the lock is held at most; 0: there is no limit. For people.
	MaxHold  time.Duration
	Acquired time.Time        // for people; whole milliseconds
	Meta     []protocol.Field // what the user said about the holder, in order
	unknown  []protocol.Field // fields of a later version; Format writes them again
	// Keeper is the user whose file the record was found in; 0: root's, or not known. It is not part of
	// the text.
	Keeper uint32
}

// NewID returns a name for one acquisition attempt: 128 random bits in hex.
func NewID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: on failure it ends the program
	return hex.EncodeToString(b[:])
}

// IsID reports whether NewID may have returned it.
func IsID(s string) bool { return len(s) == 32 && strings.Trim(s, "0123456789abcdef") == "" }

// Format returns the record's line with its final line feed. Its error wraps
// protocol.ErrMalformed, most likely because the metadata is too long.
func (r Record) Format() (string, error) {
	l := protocol.Line{Word: recordWord}.
		With("v", RecordVersion).
		With("id", r.ID)
	if r.Kind != "" {
		l = l.With("kind", r.Kind)
	}
	l = l.With("host", r.Place.Host).
		With("machine", r.Place.Machine).
		With("boot", r.Place.Boot).
		With("pidns", r.Place.PIDNS).
		With("timens", r.Place.TimeNS).
		With("pid", strconv.Itoa(r.Helper.PID)).
		With("start", strconv.FormatUint(r.Helper.Start, 10))
	if r.Parent.PID != 0 {
		l = l.With("ppid", strconv.Itoa(r.Parent.PID)).
			With("pstart", strconv.FormatUint(r.Parent.Start, 10))
	}
	if r.NoProof {
		l = l.With("proof", "off")
	}
	if r.Lifeline != "" {
		l = l.With("lifeline", r.Lifeline)
	}
	l = l.With("user", r.User).
		With("mode", r.Mode).
		With("lease_ms", strconv.FormatInt(r.Lease.Milliseconds(), 10))
	if ms := r.Refresh.Milliseconds(); ms > 0 {
		l = l.With("refresh_ms", strconv.FormatInt(ms, 10))
	}
	if ms := r.MaxHold.Milliseconds(); ms > 0 {
		l = l.With("max_hold_ms", strconv.FormatInt(ms, 10))
	}
	if r.Program != "" {
		l = l.With("program", r.Program)
	}
	l = l.With("at", r.Acquired.UTC().Truncate(time.Millisecond).Format(time.RFC3339Nano))
	for _, m := range r.Meta {
		l = l.With(metaPrefix+m.Key, m.Value)
	}
	l.Fields = append(l.Fields, r.unknown...)
	return l.Format()
}

// RecordOf parses the record of the holder with this id. If there is none, the note says why.
func RecordOf(id, text string) (r *Record, note string) {
	found, err := ParseRecord(text)
	if err != nil || found.ID != id {
		return nil, "its record is not one of ours"
	}
	return &found, ""
}

// ParseRecord parses what Format wrote. Its errors wrap ErrRecord.
func ParseRecord(s string) (Record, error) {
	if !strings.HasSuffix(s, "\n") {
		return Record{}, fmt.Errorf("%w: it does not end in a line feed", ErrRecord)
	}
	l, err := protocol.Parse(s)
	if err != nil {
		return Record{}, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	if l.Word != recordWord || l.Text != "" || l.Value("v") != RecordVersion {
		return Record{}, fmt.Errorf("%w: not of version %s", ErrRecord, RecordVersion)
	}
	p := fieldReader{line: l}
	r := Record{
		ID:       p.text("id"),
		Kind:     l.Value("kind"),
		Place:    Place{Host: p.text("host"), Machine: p.text("machine"), Boot: p.text("boot"), PIDNS: p.text("pidns"), TimeNS: p.text("timens")},
		Helper:   p.process("pid", "start"),
		NoProof:  l.Value("proof") == "off",
		Lifeline: l.Value("lifeline"),
		User:     p.text("user"),
		Program:  l.Value("program"),
		Mode:     p.text("mode"),
		Lease:    p.lease("lease_ms"),
		Refresh:  p.optional("refresh_ms"),
		MaxHold:  p.optional("max_hold_ms"),
		Acquired: p.time("at"),
	}
	if _, ok := l.Get("ppid"); ok {
		r.Parent = p.process("ppid", "pstart")
	}
	for _, f := range l.Fields {
		if key, isMeta := strings.CutPrefix(f.Key, metaPrefix); isMeta {
			r.Meta = append(r.Meta, protocol.Field{Key: key, Value: f.Value})
		} else if !known[f.Key] {
			r.unknown = append(r.unknown, f)
		}
	}
	if p.err == nil && (r.ID == "" || r.Helper.PID == 0) {
		p.fail("id or pid is empty")
	}
	return r, p.err
}

var known = map[string]bool{
	"v": true, "id": true, "kind": true, "host": true, "machine": true, "boot": true, "pidns": true, "timens": true,
	"pid": true, "start": true, "ppid": true, "pstart": true, "proof": true, "lifeline": true, "user": true, "mode": true,
	"lease_ms": true, "refresh_ms": true, "max_hold_ms": true, "program": true, "at": true,
}

// CheckMeta refuses metadata keys that cannot stand in a record.
func CheckMeta(key string) error {
	if key == "" || !protocol.ValidKey(metaPrefix+key) {
		return fmt.Errorf("metadata key %.40q: use 1 to 27 of a-z 0-9 _ . -", key)
	}
	return nil
}

// A fieldReader takes typed values out of a line and keeps the first error.
type fieldReader struct {
	line protocol.Line
	err  error
}

func (p *fieldReader) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("%w: "+format, append([]any{ErrRecord}, args...)...)
	}
}

func (p *fieldReader) text(key string) string {
	s, ok := p.line.Get(key)
	if !ok {
		p.fail("no %s", key)
	}
	return s
}

func (p *fieldReader) process(pid, start string) process.Process {
	n, err := strconv.Atoi(p.text(pid))
	if err != nil || n <= 0 || n > process.MaxPID {
		p.fail("%s is not a process id", pid)
	}
	s, err := strconv.ParseUint(p.text(start), 10, 64)
	if err != nil {
		p.fail("%s is not a start time", start)
	}
	return process.Process{PID: n, Start: s}
}

func (p *fieldReader) lease(key string) time.Duration {
	d, err := p.line.Millis(key)
	if err != nil || !IsLease(d) {
		p.fail("%s is not a lease between %v and %v", key, MinLease, MaxLease)
	}
	return d
}

// optional parses a duration that may be missing.
func (p *fieldReader) optional(key string) time.Duration {
	if _, ok := p.line.Get(key); !ok {
		return 0
	}
	d, err := p.line.Millis(key)
	if err != nil || d <= 0 || d > MaxLease {
		p.fail("%s is not a duration", key)
	}
	return d
}

func (p *fieldReader) time(key string) time.Time {
	t, err := time.Parse(time.RFC3339, p.text(key))
	if err != nil {
		p.fail("%s is not a time", key)
	}
	return t
}
