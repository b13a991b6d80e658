package main

import "slices"

// samples are what was measured, by the rival's name.
type samples map[string][]float64

func (s samples) add(r rival, value float64) { s[r.name] = append(s[r.name], value) }

func (s samples) median(name string) float64 { return median(s[name]) }

// median returns 0 for nothing.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	switch {
	case n == 0:
		return 0
	case n%2 == 0:
		return (sorted[n/2-1] + sorted[n/2]) / 2
	}
	return sorted[n/2]
}
