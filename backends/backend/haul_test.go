package backend

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestHaul: a listing has an end, by its names, its bytes and its time.
func TestHaul(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			names, bytes int
			pause        time.Duration
			takes        int // that are borne
			says         string
		}{
			{1000, 10, 0, 100, "100000 names"},
			{1, 1 << 20, 0, 16, "16777216 bytes"},
			{1, 10, 10 * time.Second, 6, "within 1m0s"},
		} {
			h, taken := NewHaul(), 0
			var err error
			for ; err == nil && taken < 1000; taken++ {
				time.Sleep(c.pause)
				err = h.Take(c.names, c.bytes)
			}
			if taken != c.takes+1 || !errors.As(err, new(TooLongError)) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%+v: %v after %d", c, err, taken)
			}
		}
	})
}

// TestHaulOfStoppedProcess: a listing is not too long because this process was stopped meanwhile.
func TestHaulOfStoppedProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHaul()
		for range 2 {
			time.Sleep(time.Hour)
			if err := h.Take(1, 10); err != nil {
				t.Error(err)
			}
		}
	})
}
