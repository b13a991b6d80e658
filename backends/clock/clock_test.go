package clock

import (
	"math"
	"testing"
	"time"
)

func TestTimers(t *testing.T) {
	for name, c := range map[string]Clock{"boot": Boot{}, "runtime": Runtime{}} {
		t.Run(name, func(t *testing.T) {
			stopped := c.NewTimer(time.Hour)
			stopped.Stop()
			endless := c.NewTimer(math.MaxInt64)
			defer endless.Stop()
			before := c.Now()
			timer := c.NewTimer(20 * time.Millisecond)
			defer timer.Stop()
			<-timer.C()
			if d := c.Now() - before; d < 20*time.Millisecond {
				t.Errorf("fired %v early", 20*time.Millisecond-d)
			}
			zero := c.NewTimer(-time.Second)
			defer zero.Stop()
			<-zero.C()
			select {
			case <-stopped.C():
				t.Error("a stopped timer fired")
			case <-endless.C():
				t.Error("a timer without end fired")
			default:
			}
		})
	}
}
