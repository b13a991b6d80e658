//go:build linux && amd64

package crash

import (
	"slices"
	"strings"
	"sync"
)

// outcomes collects what came of disturbances, as rows. The rows are in the order of their first
// disturbance. Each row has a column for every way to disturb.
type outcomes struct {
	columns []string

	mu    sync.Mutex
	order []string
	first map[string]int // by row: where it came first
	came  map[string][]string
}

// add notes what came of the n-th disturbance. Several disturbances may have the same outcome.
func (o *outcomes) add(n int, row, column, came string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.came == nil {
		o.came, o.first = map[string][]string{}, map[string]int{}
	}
	if f, known := o.first[row]; !known || n < f {
		o.first[row] = n
	}
	if !slices.Contains(o.order, row) {
		o.order = append(o.order, row)
	}
	cell := row + "\x00" + column
	if !slices.Contains(o.came[cell], came) {
		o.came[cell] = append(o.came[cell], came)
		slices.Sort(o.came[cell])
	}
}

// rows returns the rows of a table, for a kind of lock.
func (o *outcomes) rows(kind string) [][]string {
	o.mu.Lock()
	defer o.mu.Unlock()
	slices.SortStableFunc(o.order, func(a, b string) int { return o.first[a] - o.first[b] })
	var all [][]string
	for _, row := range o.order {
		cells := []string{"`" + kind + "`", "`" + row + "`"}
		for _, column := range o.columns {
			came := o.came[row+"\x00"+column]
			if len(came) == 0 && *long {
				came = []string{"n/a: cannot be"}
			}
			cells = append(cells, strings.Join(came, "; "))
		}
		all = append(all, cells)
	}
	return all
}
