package events

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A stamp is a time of the calendar as it stands in a line.
type stamp time.Time

const stampLayout = "2006-01-02T15:04:05.000000Z"

func (s stamp) MarshalJSON() ([]byte, error) {
	return json.Marshal(time.Time(s).UTC().Format(stampLayout))
}

func (s *stamp) UnmarshalJSON(raw []byte) error {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return err
	}
	t, err := time.Parse(stampLayout, text)
	*s = stamp(t)
	return err
}

// millis is a duration as it stands in a line: milliseconds, and what remains as
// decimals.
type millis time.Duration

// At most 31 years, which a duration can hold.
var millisForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(0|[1-9][0-9]{0,11})(\.[0-9]{1,3})?$`) })

func (m millis) MarshalJSON() ([]byte, error) {
	micros := time.Duration(m).Microseconds()
	text := fmt.Sprintf("%d.%03d", micros/1000, micros%1000)
	return []byte(strings.TrimSuffix(strings.TrimRight(text, "0"), ".")), nil
}

func (m *millis) UnmarshalJSON(raw []byte) error {
	if !millisForm().Match(raw) {
		return fmt.Errorf("%.40s is not a number of milliseconds", raw)
	}
	whole, decimals, _ := strings.Cut(string(raw), ".")
	micros, err := strconv.ParseInt(whole+(decimals + "000")[:3], 10, 64)
	*m = millis(time.Duration(micros) * time.Microsecond)
	return err
}

// numbers are fencing tokens as they stand in a line: null, if none is there.
type numbers []uint64

func (n numbers) MarshalJSON() ([]byte, error) {
	if !slices.ContainsFunc(n, func(token uint64) bool { return token != 0 }) {
		return []byte("null"), nil
	}
	return json.Marshal([]uint64(n))
}

func (n *numbers) UnmarshalJSON(raw []byte) error {
	var all []*uint64
	if err := json.Unmarshal(raw, &all); err != nil {
		return err
	}
	*n = make(numbers, len(all))
	for i, one := range all {
		if one == nil {
			return errors.New("one is null")
		}
		(*n)[i] = *one
	}
	return nil
}
