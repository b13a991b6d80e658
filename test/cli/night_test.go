//go:build unix

package cli

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// shorter is how many times shorter the nights of these stories are. The seconds in the guide's
// rules are divided by it.
const shorter = 3600

// alerted returns the command alerted ALERT LOCK, which fails unless the guide's rule of that name
// fires for a lock, by the metrics on the last standard output. With "!" it must not fire.
func alerted(guide string) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if len(args) != 2 {
			ts.Fatalf("usage: alerted ALERT LOCK")
		}
		rule := regexp.MustCompile(`(?m)^  - alert: ` + args[0] + `\n    expr: (.*)$`).FindStringSubmatch(guide)
		if rule == nil {
			ts.Fatalf("the guide has no alert %s", args[0])
		}
		fires, err := firesFor(rule[1], args[1], samples(ts.ReadFile("stdout")))
		ts.Check(err)
		if fires == neg {
			ts.Fatalf("%s fires for %s: %v", args[0], args[1], fires)
		}
	}
}

// samples are the values of metrics by name and lock, or by name alone if they are of no lock.
func samples(text string) map[string]float64 {
	all := map[string]float64{}
	for _, m := range regexp.MustCompile(`(?m)^(\w+)(?:\{lock="([^"]*)"\})? (\S+)$`).FindAllStringSubmatch(text, -1) {
		if value, err := strconv.ParseFloat(m[3], 64); err == nil {
			all[m[1]+" "+m[2]] = value
		}
	}
	return all
}

// firesFor evaluates the guide's rules: comparisons of a metric of a lock with a number, or with
// a number of times another metric, joined by or.
func firesFor(expr, lock string, all map[string]float64) (bool, error) {
	for term := range strings.SplitSeq(expr, " or ") {
		name, than, ok := strings.Cut(term, " > ")
		if !ok {
			return false, fmt.Errorf("%q is no comparison", term)
		}
		left, known := all[name+" "+lock]
		limit, err := limitOf(than, lock, strings.HasSuffix(name, "_seconds"), all)
		if err != nil {
			return false, err
		}
		if known && left > limit {
			return true, nil
		}
	}
	return false, nil
}

func limitOf(text, lock string, seconds bool, all map[string]float64) (float64, error) {
	number, metric, product := strings.Cut(text, " * ")
	value, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0, err
	}
	switch {
	case product:
		return value * all[metric+" "+lock], nil
	case seconds:
		return value / shorter, nil
	}
	return value, nil
}
