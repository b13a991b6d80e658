package protocol

import (
	"fmt"
	"strconv"
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
)

// A Grant is what an OK line says.
type Grant struct {
	ID     string        // names this acquisition, never used twice
	Token  uint64        // fencing token; 0 where the backend has none
	Mode   string        // "exclusive" or "shared"
	Waited time.Duration // from start to OK
	Lease  time.Duration // how long a silent holder is believed
	Lock   string        // the address
}

// Line returns the grant as an OK line.
func (g Grant) Line() Line {
	l := Line{Word: WordOK}.With("proto", strconv.Itoa(Version)).With("id", g.ID)
	if g.Token != 0 {
		l = l.With("token", strconv.FormatUint(g.Token, 10))
	}
	return l.With("mode", g.Mode).
		With("waited_ms", millis(g.Waited)).
		With("lease_ms", millis(g.Lease)).
		With("lock", g.Lock)
}

// ParseGrant reads an OK line. Its errors wrap ErrMalformed.
func ParseGrant(l Line) (Grant, error) {
	if l.Word != WordOK {
		return Grant{}, malformed("%s is not OK", l.Word)
	}
	if p := l.Value("proto"); p != strconv.Itoa(Version) {
		return Grant{}, malformed("protocol version %q, want %d", p, Version)
	}
	g := Grant{ID: l.Value("id"), Mode: l.Value("mode"), Lock: l.Value("lock")}
	var err error
	if s, ok := l.Get("token"); ok {
		if g.Token, err = strconv.ParseUint(s, 10, 64); err != nil {
			return Grant{}, malformed("token %q is not a number", s)
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
	Age       time.Duration // since it acquired the lock
	Heartbeat time.Duration // since its last sign of life
}

// Append adds what is known of the holder to a line.
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
	if h.Age != 0 {
		l = l.With("age_ms", millis(h.Age))
	}
	if h.Heartbeat != 0 {
		l = l.With("heartbeat_ms", millis(h.Heartbeat))
	}
	return l
}

// ParseHolder reads what an ERR line says of the holder. What is missing or
// unreadable stays zero: it only informs.
func ParseHolder(l Line) Holder {
	h := Holder{ID: l.Value("holder"), User: l.Value("user"), Host: l.Value("host")}
	h.PID, _ = strconv.Atoi(l.Value("pid"))
	h.Age, _ = l.Millis("age_ms")
	h.Heartbeat, _ = l.Millis("heartbeat_ms")
	return h
}

// Failure returns an ERR or LOST line.
func Failure(word string, code Code, text string) Line {
	return Line{Word: word, Text: CleanText(text, MaxLine/2)}.With("code", string(code))
}

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
