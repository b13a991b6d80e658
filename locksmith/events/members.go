package events

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"locksmith/protocol"
)

// A line has the members of events of all kinds, in the order in which they are written. Every event
// has those up to Meta, of the others those of its kind (own). A member with an option may be missing,
// unless its kind asks for it.
type line struct {
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

	Lock    string         `json:"lock,omitempty"`
	Holder  *Holder        `json:"holder,omitempty"`
	User    string         `json:"user,omitempty"`
	Forced  *bool          `json:"forced,omitempty"`
	Reason  string         `json:"reason,omitempty"`
	Why     string         `json:"why,omitempty"`
	ID      string         `json:"id,omitempty"`
	Token   uint64         `json:"token,omitempty"`
	Tokens  tokens         `json:"tokens,omitzero"`
	Lease   millis         `json:"lease_ms,omitzero"`
	Waited  *millis        `json:"waited_ms,omitempty"`
	Late    *millis        `json:"late_ms,omitempty"`
	Error   string         `json:"error,omitempty"`
	Held    *millis        `json:"held_ms,omitempty"`
	Release *millis        `json:"release_ms,omitempty"`
	Code    *protocol.Code `json:"code,omitempty"`
	Text    *string        `json:"text,omitempty"`
	Silent  millis         `json:"silent_ms,omitzero"`
}

// own are the members of one kind of events. A mark is behind those that must be there.
func (k Kind) own() string {
	return map[Kind]string{
		Waiting: "lock holder why", Broke: "lock holder why", Broken: "holder user forced! reason why",
		Acquired: "id token tokens lease_ms waited_ms!", Late: "late_ms! error", Lost: "code! text! silent_ms",
		Released: "held_ms! release_ms!", GaveUp: "waited_ms! code! text!",
	}[k]
}

// fields calls back with each field of a line, in order: the member's key, and whether events of the
// line's kind may, and must, have it.
func (l *line) fields(f func(key string, may, must bool, v reflect.Value)) {
	v, own := reflect.ValueOf(l).Elem(), []string(nil)
	for i := range v.NumField() {
		field := v.Type().Field(i)
		key, option, _ := strings.Cut(field.Tag.Get("json"), ",")
		must := own == nil && option == "" || slices.Contains(own, key+"!")
		f(key, own == nil || must || slices.Contains(own, key), must, v.Field(i))
		if field.Name == "Meta" { // the last that events of all kinds have
			own = append(strings.Fields(l.Kind.own()), "")
		}
	}
}

// line returns the line of an event.
func (e *Event) line() line {
	l := line{
		Time: stamp(e.Time), Boot: millis(e.Boot), Clock: e.Clock, Kind: e.Kind, Locks: e.Locks, More: e.More,
		Host: e.Host, PID: e.PID, Mode: e.Mode, Modes: e.Modes, Command: e.Command, Meta: e.Meta,
		Lock: e.Lock, Holder: e.Holder.known(), User: e.User, Forced: &e.Forced, Reason: e.Reason, Why: e.Text,
		ID: e.ID, Token: e.Token, Tokens: e.Tokens, Lease: millis(e.Lease), Waited: (*millis)(&e.Waited),
		Late: (*millis)(&e.Late), Error: e.Text, Held: (*millis)(&e.Held), Release: (*millis)(&e.Release),
		Code: &e.Code, Text: &e.Text, Silent: millis(e.Silent),
	}
	l.fields(func(_ string, may, _ bool, v reflect.Value) {
		if !may {
			v.SetZero()
		}
	})
	return l
}

func (l *line) event() Event {
	return Event{
		Time: time.Time(l.Time), Boot: time.Duration(l.Boot), Clock: l.Clock, Kind: l.Kind, Locks: l.Locks, More: l.More,
		Host: l.Host, PID: l.PID, Mode: l.Mode, Modes: l.Modes, Command: l.Command, Meta: l.Meta,
		Lock: l.Lock, Holder: l.Holder, User: l.User, Forced: of(l.Forced), Reason: l.Reason,
		ID: l.ID, Token: l.Token, Tokens: l.Tokens, Lease: time.Duration(l.Lease), Waited: time.Duration(of(l.Waited)),
		Late: time.Duration(of(l.Late)), Held: time.Duration(of(l.Held)), Release: time.Duration(of(l.Release)),
		Code: of(l.Code), Text: l.Why + l.Error + of(l.Text), Silent: time.Duration(l.Silent),
	}
}

// of returns what p leads to, or nothing.
func of[T any](p *T) (value T) {
	if p != nil {
		value = *p
	}
	return value
}

// known returns the holder, or nil if nothing is known about it.
func (h *Holder) known() *Holder {
	if h != nil && *h == (Holder{}) {
		return nil
	}
	return h
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
