package events

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"locksmith/protocol"
)

// The members of a line, in the order in which they are written. A member with omitempty or
// omitzero may be missing in a line that is read. All others must be there.
type (
	common struct {
		Time    stamp    `json:"time"`
		Boot    millis   `json:"boot_ms"`
		Clock   string   `json:"clock,omitempty"`
		Kind    Kind     `json:"event"`
		Locks   []string `json:"locks"`
		More    int      `json:"more,omitempty"`
		Host    string   `json:"host"`
		PID     int      `json:"pid"`
		Mode    string   `json:"mode"`
		Modes   []string `json:"modes,omitempty"`
		Command string   `json:"command,omitempty"`

		Meta map[string]string `json:"meta,omitempty"`
	}
	// waiting is also the line of Broke.
	waiting struct {
		common
		Lock   string  `json:"lock,omitempty"`
		Holder *Holder `json:"holder,omitempty"`
		Why    string  `json:"why,omitempty"`
	}
	broken struct {
		common
		Holder *Holder `json:"holder,omitempty"`
		User   string  `json:"user,omitempty"`
		Forced bool    `json:"forced"`
		Reason string  `json:"reason,omitempty"`
		Why    string  `json:"why,omitempty"`
	}
	acquired struct {
		common
		ID     string `json:"id,omitempty"`
		Token  uint64 `json:"token,omitempty"`
		Tokens tokens `json:"tokens,omitzero"`
		Waited millis `json:"waited_ms"`
	}
	late struct {
		common
		Late  millis `json:"late_ms"`
		Error string `json:"error,omitempty"`
	}
	lost struct {
		common
		Code protocol.Code `json:"code"`
		Text string        `json:"text"`
	}
	released struct {
		common
		Held    millis `json:"held_ms"`
		Release millis `json:"release_ms"`
	}
	gaveUp struct {
		common
		Waited millis        `json:"waited_ms"`
		Code   protocol.Code `json:"code"`
		Text   string        `json:"text"`
	}
)

// A line has the members of an event, to be written or to be read.
type line interface{ event() Event }

// line returns the line of an event; nil: its kind is not known.
func (e *Event) line() line {
	c := common{stamp(e.Time), millis(e.Boot), e.Clock, e.Kind, e.Locks, e.More, e.Host, e.PID, e.Mode, e.Modes, e.Command, e.Meta}
	switch e.Kind {
	case Waiting, Broke:
		return &waiting{c, e.Lock, e.Holder.known(), e.Text}
	case Broken:
		return &broken{c, e.Holder.known(), e.User, e.Forced, e.Reason, e.Text}
	case Acquired:
		return &acquired{c, e.ID, e.Token, e.Tokens, millis(e.Waited)}
	case Late:
		return &late{c, millis(e.Late), e.Text}
	case Lost:
		return &lost{c, e.Code, e.Text}
	case Released:
		return &released{c, millis(e.Held), millis(e.Release)}
	case GaveUp:
		return &gaveUp{c, millis(e.Waited), e.Code, e.Text}
	}
	return nil
}

func (c *common) event() Event {
	return Event{Time: time.Time(c.Time), Boot: time.Duration(c.Boot), Clock: c.Clock, Kind: c.Kind, Locks: c.Locks, More: c.More,
		Host: c.Host, PID: c.PID, Mode: c.Mode, Modes: c.Modes, Command: c.Command, Meta: c.Meta}
}

func (w *waiting) event() Event {
	e := w.common.event()
	e.Lock, e.Holder, e.Text = w.Lock, w.Holder, w.Why
	return e
}

func (b *broken) event() Event {
	e := b.common.event()
	e.Holder, e.User, e.Forced, e.Reason, e.Text = b.Holder, b.User, b.Forced, b.Reason, b.Why
	return e
}

// known returns the holder, or nil if nothing is known about it.
func (h *Holder) known() *Holder {
	if h != nil && *h == (Holder{}) {
		return nil
	}
	return h
}

func (a *acquired) event() Event {
	e := a.common.event()
	e.ID, e.Token, e.Tokens, e.Waited = a.ID, a.Token, a.Tokens, time.Duration(a.Waited)
	return e
}

func (l *late) event() Event {
	e := l.common.event()
	e.Late, e.Text = time.Duration(l.Late), l.Error
	return e
}

func (l *lost) event() Event {
	e := l.common.event()
	e.Code, e.Text = l.Code, l.Text
	return e
}

func (r *released) event() Event {
	e := r.common.event()
	e.Held, e.Release = time.Duration(r.Held), time.Duration(r.Release)
	return e
}

func (g *gaveUp) event() Event {
	e := g.common.event()
	e.Waited, e.Code, e.Text = time.Duration(g.Waited), g.Code, g.Text
	return e
}

// A stamp is a time of the calendar in the form of a line.
type stamp time.Time

const stampLayout = "2006-01-02T15:04:05.000000Z"

func (s stamp) MarshalText() ([]byte, error) {
	return time.Time(s).UTC().AppendFormat(nil, stampLayout), nil
}

// UnmarshalJSON gives a clear error for a value that is not a text.
func (s *stamp) UnmarshalJSON(raw []byte) error {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return err
	}
	t, err := time.Parse(stampLayout, text)
	*s = stamp(t)
	return err
}

// millis is a duration in the form of a line: milliseconds with decimals.
type millis time.Duration

func (m millis) MarshalJSON() ([]byte, error) {
	micros := time.Duration(m).Microseconds()
	text := fmt.Sprintf("%d.%03d", micros/1000, micros%1000)
	return []byte(strings.TrimSuffix(strings.TrimRight(text, "0"), ".")), nil
}

// UnmarshalJSON accepts at most 31 years, which a duration can hold.
func (m *millis) UnmarshalJSON(raw []byte) error {
	const maxDigits, decimals = 12, 3
	whole, part, _ := strings.Cut(string(raw), ".")
	micros, err := strconv.ParseUint(whole+(part + "000")[:decimals], 10, 64)
	if err != nil || len(whole) > maxDigits || len(part) > decimals {
		return fmt.Errorf("%.40s is not a number of milliseconds", raw)
	}
	*m = millis(time.Duration(micros) * time.Microsecond)
	return nil
}

// tokens are fencing tokens in the form of a line. If no lock has a token, the line leaves them
// out.
type tokens []uint64

func (t tokens) IsZero() bool {
	return !slices.ContainsFunc(t, func(token uint64) bool { return token != 0 })
}

// UnmarshalJSON does not accept null as a number.
func (t *tokens) UnmarshalJSON(raw []byte) error {
	if bytes.Contains(raw, []byte("null")) {
		return errors.New("one is null")
	}
	return json.Unmarshal(raw, (*[]uint64)(t))
}
