//go:build linux

package nfslab

import (
	"fmt"
	"strings"
	"time"

	"locksmith/protocol"
	"locksmith/test/lab/mishaps"
)

// hear hears what the victim's parent is told until the end.
func (c *crash) hear() {
	c.t.Helper()
	for {
		select {
		case s, ok := <-c.victim.said:
			if !ok {
				c.ended()
				return
			}
			c.t.Logf("the victim: %s %s", s.Word, s.Text)
			word := s.Word
			switch word {
			case protocol.WordLost:
				c.lost = s.at
			case protocol.WordErr:
				word += fmt.Sprintf(" (code=%s)", s.Value("code"))
			case protocol.WordOK:
				c.victim.letGo()
			}
			c.heard = append(c.heard, word)
		case <-time.After(2 * waitLimit):
			c.t.Fatalf("%s: silence; stderr:\n%s", c.victim.name, &c.victim.stderr)
		}
	}
}

// ended notes how the victim ended, as its parent sees it.
func (c *crash) ended() {
	<-c.victim.ended
	last := ""
	if len(c.heard) > 0 {
		last = c.heard[len(c.heard)-1]
	}
	switch {
	case c.Run:
		c.lost = c.victim.outputEnded
		c.heard = append(c.heard, fmt.Sprintf("exit %d", c.victim.cmd.ProcessState.ExitCode()))
	case last == "" || last == protocol.WordOK:
		c.lost = c.victim.outputEnded
		c.heard = append(c.heard, "end of output")
	}
}

// output is what the victim's parent heard, and whether it knew of a loss before the rival
// had the lock. That is what must be, unless nobody could tell it.
func (c *crash) output() string {
	c.t.Helper()
	if c.survives {
		c.victim.letGo()
		c.hear()
	} else if c.moment == mishaps.Waiting {
		c.hear()
	}
	if c.Orphan {
		return "nobody is left"
	}
	said := strings.Join(c.heard, ", ")
	switch {
	case c.Want.MayBeLost(c.moment, mishaps.Elsewhere): // and its parent has let go
		return strings.NewReplacer(protocol.WordLost, mishaps.EitherSaid, protocol.WordReleased, mishaps.EitherSaid).Replace(said)
	case c.Run || c.survives || c.moment == mishaps.Waiting || c.moment == mishaps.Releasing || c.heard[0] != protocol.WordOK:
		return said
	case c.lost == 0:
		c.fault = "silence: the victim's parent was told of no loss"
		return said
	case c.lost < c.taken:
		return said + " before that"
	case !c.stops:
		c.fault = fmt.Sprintf("two holders: the rival had the lock %v before the victim's parent knew", c.lost-c.taken)
	}
	return said + " after that"
}
