//go:build linux

package promises

import (
	"strings"
	"time"

	"locksmith/test/lab"
)

// row5: a command asks for the lock under which it runs. It would wait for itself.
func row5() []question {
	const want = "it is told at once, and does not wait"
	return []question{
		{row: 5, name: "at once", want: want, ask: nested(`"$LOCKSMITH_PROGRAM" run "$LOCK" -- true`)},
		{row: 5, name: "with another lock between", want: want, ask: nested(`"$LOCKSMITH_PROGRAM" run "$BESIDE" -- "$LOCKSMITH_PROGRAM" run "$LOCK" -- true`)},
		{row: 5, name: "with no environment", want: want, ask: nested(`exec env -i PATH="$PATH" HOME="$HOME" LOCKSMITH_SSH="$LOCKSMITH_SSH" AWS_ACCESS_KEY_ID="$AWS_ACCESS_KEY_ID" AWS_SECRET_ACCESS_KEY="$AWS_SECRET_ACCESS_KEY" "$LOCKSMITH_PROGRAM" run "$LOCK" -- true`)},
		{row: 5, name: "in a set", want: want, ask: nested(`"$LOCKSMITH_PROGRAM" run "$BESIDE" "$LOCK" -- true`)},
		{row: 5, name: "any of those that are ours", want: want, ask: nested(`"$LOCKSMITH_PROGRAM" run "$BESIDE" -- "$LOCKSMITH_PROGRAM" run --any "$BESIDE" "$LOCK" -- true`)},
	}
}

// nested runs a script under the lock, which asks for it.
func nested(script string) func(*cell) evil {
	return func(c *cell) evil {
		outer := c.command("run", c.Address, "--", "sh", "-c", script)
		outer.Env = append(outer.Env, "BESIDE="+c.Beside("2"))
		outer.Stdin = lab.Null(c)
		p := lab.Start(c, outer)
		for limit := time.Now().Add(patience); time.Now().Before(limit); time.Sleep(10 * time.Millisecond) {
			select {
			case <-p.Ended():
				if s := (said{p.Status(), "", p.Stderr()}); s.status != 75 && s.status != 64 || s.err == "" {
					return evil(s.String())
				}
				return ""
			default:
				if strings.Contains(p.Stderr(), "waiting: ") {
					return evil("it waits for itself: " + p.Stderr())
				}
			}
		}
		return "it says nothing for two minutes"
	}
}
