//go:build unix

package history

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// A tally is what was counted of a kind of locks. The recorder's mutex guards it.
type tally struct {
	left, lost, missed, reaps int
	injections                [injections]int
	gap, vain                 time.Duration // the longest gap, and the longest part of a gap after the last injection
	handover                  [injections][]time.Duration
	release                   []time.Duration
}

// table prints all tallies.
func table(kinds []kind, all map[string]*tally) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "locks\tsections")
	for _, name := range injectionNames[1:] {
		fmt.Fprint(w, "\t", name)
	}
	fmt.Fprintln(w, "\tlost\tmissed\treaps\tgap max\tafter last injection\trelease p99\tmax\tnext p99: parent\thelper\tboth\tstop > lease")
	for _, k := range kinds {
		n := all[k.name]
		fmt.Fprintf(w, "%s\t%d", k.name, n.left+n.lost)
		for b := killParent; b < injections; b++ {
			fmt.Fprint(w, "\t", n.injections[b])
		}
		fmt.Fprintf(w, "\t%d\t%d\t%d\t%s\t%s\t%s\t%s", n.lost, n.missed, n.reaps, ms(n.gap), ms(n.vain), ms(quantile(n.release, 99)), ms(quantile(n.release, 100)))
		for _, b := range []injection{killParent, killHelper, killBoth, stopForLong} {
			fmt.Fprint(w, "\t", ms(quantile(n.handover[b], 99)))
		}
		fmt.Fprintln(w)
	}
	w.Flush()
	return b.String()
}

// quantile returns the value that percent of all do not exceed; 0 if there are none.
func quantile(all []time.Duration, percent int) time.Duration {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[(len(all)-1)*percent/100]
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }
