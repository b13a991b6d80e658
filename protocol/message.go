package protocol

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Version is the number after proto= in OK.
const Version = 1

// The words of the protocol.
const (
	WordOK       = "OK"
	WordErr      = "ERR"
	WordBeat     = "BEAT"
	WordLost     = "LOST"
	WordReleased = "RELEASED"

	// For a parent that decides how to wait; the last two are the parent's.
	WordBusy  = "BUSY"
	WordPause = "PAUSE"
	WordEnd   = "END"
)

// A Grant is what an OK line says.
type Grant struct {
	// ID names this acquisition, never used twice. The ID of a set is the ids of its locks in the
	// order given, separated by commas; empty if the line would be too long.
	ID    string
	Token uint64 // fencing token; 0 where the backend has none
	// Tokens are the tokens of the locks of a set, in the order given; nil: it is one lock.
	Tokens []uint64
	Mode   string        // "exclusive" or "shared"; of a set also "mixed"
	Waited time.Duration // from start to OK
	Lease  time.Duration // how long a silent holder is believed
	// Lock is the address. The addresses of a set are separated by line feeds; empty if the line
	// would be too long.
	Lock string
	// Index says which of several addresses Lock is, if any would do, counted from 1 in the order
	// given; 0: there were not several of which any would do.
	Index int
}

// Line returns the grant as an OK line. A set's line that would be too long goes
// without addresses, and if need be without ids.
func (g Grant) Line() Line {
	l := g.line()
	if g.Tokens == nil {
		return l
	}
	for _, long := range []*string{&g.Lock, &g.ID} {
		if _, err := l.Format(); err == nil {
			break
		}
		*long = ""
		l = g.line()
	}
	return l
}

func (g Grant) line() Line {
	l := Line{Word: WordOK}.With("proto", strconv.Itoa(Version))
	if g.ID != "" {
		l = l.With("id", g.ID)
	}
	if g.Tokens != nil {
		l = l.With("locks", strconv.Itoa(len(g.Tokens)))
	}
	if t := g.TokenText(); t != "" {
		l = l.With("token", t)
	}
	if g.Index > 0 {
		l = l.With("index", strconv.Itoa(g.Index))
	}
	l = l.With("mode", g.Mode).With("waited_ms", millis(g.Waited)).With("lease_ms", millis(g.Lease))
	if g.Lock != "" {
		l = l.With("lock", g.Lock)
	}
	return l
}

// TokenText returns the token in decimal, those of a set separated by commas with 0 for
// none; empty if there is no token.
func (g Grant) TokenText() string {
	if g.Tokens == nil && g.Token != 0 {
		return strconv.FormatUint(g.Token, 10)
	}
	if !slices.ContainsFunc(g.Tokens, func(t uint64) bool { return t != 0 }) {
		return ""
	}
	var all []string
	for _, t := range g.Tokens {
		all = append(all, strconv.FormatUint(t, 10))
	}
	return strings.Join(all, ",")
}

// parseTokens reads what TokenText returned.
func (g *Grant) parseTokens(l Line) (err error) {
	text, hasTokens := l.Get("token")
	n, isSet := l.Get("locks")
	if !isSet {
		if hasTokens {
			g.Token, err = strconv.ParseUint(text, 10, 64)
		}
		return err
	}
	locks, err := strconv.Atoi(n)
	if err != nil || locks < 1 || locks > MaxLine {
		return fmt.Errorf("%q locks", n)
	}
	g.Tokens = make([]uint64, locks)
	if !hasTokens {
		return nil
	}
	all := strings.Split(text, ",")
	if len(all) != locks {
		return fmt.Errorf("%d tokens for %d locks", len(all), locks)
	}
	for i := range all {
		if g.Tokens[i], err = strconv.ParseUint(all[i], 10, 64); err != nil {
			return err
		}
	}
	return nil
}

// A NewerError says that a helper speaks a newer protocol than this package. It wraps
// ErrMalformed: nothing is known of such a line.
type NewerError struct{ Proto int }

func (e *NewerError) Error() string {
	return fmt.Sprintf("the helper speaks a newer protocol, %d, and this program %d: bring this program up to date, or use an older helper", e.Proto, Version)
}

func (e *NewerError) Unwrap() error { return ErrMalformed }

// ParseGrant reads an OK line. Its errors wrap ErrMalformed; that of a newer helper is a
// *NewerError.
func ParseGrant(l Line) (Grant, error) {
	if l.Word != WordOK {
		return Grant{}, malformed("%s is not OK", l.Word)
	}
	switch p, err := strconv.Atoi(l.Value("proto")); {
	case err == nil && p > Version:
		return Grant{}, &NewerError{Proto: p}
	case err != nil || p != Version:
		return Grant{}, malformed("protocol version %q, want %d", l.Value("proto"), Version)
	}
	g := Grant{ID: l.Value("id"), Mode: l.Value("mode"), Lock: l.Value("lock")}
	var err error
	if err = g.parseTokens(l); err != nil {
		return Grant{}, malformed("token: %v", err)
	}
	if i, isOne := l.Get("index"); isOne {
		if g.Index, err = strconv.Atoi(i); err != nil || g.Index < 1 {
			return Grant{}, malformed("index %q", i)
		}
	}
	if g.Waited, err = l.Millis("waited_ms"); err != nil {
		return Grant{}, err
	}
	if g.Lease, err = l.Millis("lease_ms"); err != nil {
		return Grant{}, err
	}
	return g, nil
}

// A Holder is what an ERR code=held line says of who holds the lock. Fields
// that are not known are zero.
type Holder struct {
	ID        string
	User      string
	Host      string
	PID       int
	Program   string        // the name of the program that it holds the lock for
	Age       time.Duration // since it acquired the lock
	Heartbeat time.Duration // since its last sign of life
}

// Append adds to a line what is known of the holder.
func (h Holder) Append(l Line) Line {
	if h.ID != "" {
		l = l.With("holder", h.ID)
	}
	if h.User != "" {
		l = l.With("user", h.User)
	}
	if h.Host != "" {
		l = l.With("host", h.Host)
	}
	if h.PID != 0 {
		l = l.With("pid", strconv.Itoa(h.PID))
	}
	if h.Program != "" {
		l = l.With("program", h.Program)
	}
	if h.Age != 0 {
		l = l.With("age_ms", millis(h.Age))
	}
	if h.Heartbeat != 0 {
		l = l.With("heartbeat_ms", millis(h.Heartbeat))
	}
	return l
}

// ParseHolder reads what an ERR line says of the holder. What is missing or unreadable stays
// zero, because it only informs.
func ParseHolder(l Line) Holder {
	h := Holder{ID: l.Value("holder"), User: l.Value("user"), Host: l.Value("host"), Program: l.Value("program")}
	h.PID, _ = strconv.Atoi(l.Value("pid"))
	h.Age, _ = l.Millis("age_ms")
	h.Heartbeat, _ = l.Millis("heartbeat_ms")
	return h
}

// Failure returns an ERR or LOST line.
func Failure(word string, code Code, text string) Line {
	return Line{Word: word}.WithText(text).With("code", string(code))
}

// WithText returns the line with this text for people, in which control characters are replaced. The
// text is cut to half of a line, so that the fields have room.
func (l Line) WithText(text string) Line {
	l.Text = CleanText(text, MaxLine/2)
	return l
}

// WithWaited returns an ERR line that says how long the helper waited for the lock.
func (l Line) WithWaited(d time.Duration) Line { return l.With("waited_ms", millis(d)) }

// Count returns the line with a number more.
func (l Line) Count(key string, n int) Line { return l.With(key, strconv.Itoa(n)) }

// Pause returns the answer to a BUSY line: try again after a pause; or, with 0, wait as helpers
// do until another holder is seen.
func Pause(d time.Duration) Line { return Line{Word: WordPause}.With("ms", millis(d)) }

// Beat returns a BEAT line: the heartbeat was sent this long ago.
func Beat(sent time.Duration) Line {
	return Line{Word: WordBeat}.With("sent_ms", millis(sent))
}

// Released returns a RELEASED line.
func Released(held time.Duration) Line {
	return Line{Word: WordReleased}.With("held_ms", millis(held))
}

// Millis returns the value of key, a whole number of milliseconds.
func (l Line) Millis(key string) (time.Duration, error) {
	s := l.Value(key)
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || n > int64(1<<62)/int64(time.Millisecond) {
		return 0, malformed("%s=%.40q is not a number of milliseconds", key, s)
	}
	return time.Duration(n) * time.Millisecond, nil
}

func millis(d time.Duration) string { return fmt.Sprint(max(d, 0).Milliseconds()) }
