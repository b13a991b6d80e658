package plot

import (
	"math"
	"strconv"
)

// An axis turns values into places, in pixels. Its ends are powers of its base.
type axis struct {
	base        float64
	least, most float64 // powers at the ends
	from, to    float64 // pixels there
	ground      bool    // at the first end is 0
}

// newAxis returns an axis that is long enough for all values.
func newAxis(base float64, values []float64, from, to float64) axis {
	a := axis{base: base, least: math.Inf(1), most: math.Inf(-1), from: from, to: to}
	for _, v := range values {
		if v <= 0 {
			a.ground = true
			continue
		}
		power := math.Log(v) / math.Log(base)
		// What misses a power by rounding alone is at it.
		a.least, a.most = min(a.least, math.Floor(power+1e-9)), max(a.most, math.Ceil(power-1e-9))
	}
	if a.least > a.most {
		a.least, a.most = 0, 0
	}
	if a.ground {
		a.least--
	}
	if a.most == a.least {
		a.most++
	}
	return a
}

// at is where a value is.
func (a axis) at(v float64) float64 {
	power := a.least
	if v > 0 {
		power = max(power, math.Log(v)/math.Log(a.base))
	}
	return a.from + (a.to-a.from)*(power-a.least)/(a.most-a.least)
}

// A tick is a value with its name.
type tick struct {
	value float64
	name  string
}

func (a axis) ticks() []tick {
	var all []tick
	for p := a.least; p <= a.most; p++ {
		v := math.Pow(a.base, p)
		t := tick{v, strconv.FormatFloat(v, 'f', -1, 64)}
		if p == a.least && a.ground {
			t.name = "0"
		}
		all = append(all, t)
	}
	return all
}
