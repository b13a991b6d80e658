//go:build linux

package nfslab

import (
	"fmt"
	"strings"
	"time"

	"locksmith/protocol"
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
	case c.run:
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
	} else if c.moment == waiting {
		c.hear()
	}
	if c.orphan {
		return "nobody is left"
	}
	said := strings.Join(c.heard, ", ")
	switch {
	case c.moment == releasing && c.either: // and its parent has let go
		return strings.NewReplacer(protocol.WordLost, "LOST or RELEASED", protocol.WordReleased, "LOST or RELEASED").Replace(said)
	case c.run || c.survives || c.moment == waiting || c.moment == releasing || c.heard[0] != protocol.WordOK:
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
