package ftplab

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"locksmith/test/ftpserver"
)

// bytesCut: the connection ends after any byte of what the server says, in all of
// a lock's life; or, to be quick, after every few of them.
func bytesCut(t *testing.T, kind string) {
	inBothStyles(t, func(t *testing.T, style string) {
		p := start(t, kind, style, ftpserver.Options{})
		every := 1
		if !*long {
			every = 11
		}
		n := 1 + rand.IntN(every)
		t.Logf("from %d", n)
		var all []faultCase
		for ; n < replyBytes; n += every {
			do := []ftpserver.Action{ftpserver.Cut, ftpserver.Reset}[n%2]
			all = append(all, faultCase{fmt.Sprintf("byte %d", n), ftpserver.Fault{Replies: n, Do: do}})
		}
		t.Logf("%d faults: %v", len(all), p.injectAll(t, all))
		p.clean()
	})
}

// replyBytes is more than a server says in a lock's life: the last faults never
// happen.
const replyBytes = 1600
