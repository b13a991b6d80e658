// Package plot draws curves as an SVG that needs nothing else: its own background and
// colours, light or dark as the reader's are, no script, no link. Both axes are
// logarithmic, and what is 0 lies on the ground.
package plot

// A Point is a place on a curve. X is above 0, and Y is not below.
type Point struct{ X, Y float64 }

// A Curve has its points in the order of their X.
type Curve struct {
	Name   string
	Points []Point
}

// A Panel is one pair of axes. The curves of all panels come in the same order.
type Panel struct {
	Title  string
	Curves []Curve
}
