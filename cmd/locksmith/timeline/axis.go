package timeline

import (
	"strconv"
	"strings"
	"time"
)

// An axis turns times into positions, in pixels from the left edge of the picture.
type axis struct {
	from, to    time.Time
	left, width float64
}

// x is the position of a time.
func (a axis) x(t time.Time) float64 {
	return a.left + a.width*float64(t.Sub(a.from))/float64(a.to.Sub(a.from))
}

func (a axis) right() float64 { return a.left + a.width }

// A tick is a position on the axis with its name.
type tick struct {
	at   time.Time
	name string
}

// maxTicks is how many ticks fit beside each other.
const maxTicks = 9

// sinceStart is how long a picture may be, at most, to show times since its start. Longer
// pictures show the time of the day.
const sinceStart = 2 * time.Minute

func (a axis) ticks() []tick {
	step := stepFor(a.to.Sub(a.from))
	first, name := a.from, a.offset
	if a.to.Sub(a.from) > sinceStart {
		first, name = a.from.Truncate(step), timeOfDay(step)
	}
	var ticks []tick
	for at := first; !at.After(a.to); at = at.Add(step) {
		if !at.Before(a.from) {
			ticks = append(ticks, tick{at, name(at)})
		}
	}
	return ticks
}

// stepFor returns the shortest round step that fits into a span no more than maxTicks times.
func stepFor(span time.Duration) time.Duration {
	for _, text := range strings.Fields("1µs 2µs 5µs 10µs 20µs 50µs 100µs 200µs 500µs 1ms 2ms 5ms 10ms 20ms 50ms 100ms 200ms 500ms " +
		"1s 2s 5s 10s 15s 30s 1m 2m 5m 10m 15m 30m 1h 2h 3h 6h 12h 24h 48h 168h 336h") {
		if step, _ := time.ParseDuration(text); span/step < maxTicks {
			return step
		}
	}
	const day = 24 * time.Hour
	return span / (maxTicks - 1) / day * day
}

// offset names a time by how long after the start it is.
func (a axis) offset(t time.Time) string {
	unit, name := time.Second, " s"
	switch span := a.to.Sub(a.from); {
	case span < time.Millisecond:
		unit, name = time.Microsecond, " µs"
	case span < time.Second:
		unit, name = time.Millisecond, " ms"
	}
	return "+" + strconv.FormatFloat(float64(t.Sub(a.from))/float64(unit), 'f', -1, 64) + name
}

// timeOfDay names a time as precisely as the step needs. Midnight is named by the day.
func timeOfDay(step time.Duration) func(time.Time) string {
	layout := "15:04"
	if step < time.Minute {
		layout = "15:04:05"
	}
	return func(t time.Time) string {
		t = t.UTC()
		if t.Truncate(24 * time.Hour).Equal(t) {
			return t.Format("2 Jan 2006")
		}
		return t.Format(layout)
	}
}
