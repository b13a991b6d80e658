package main

import "slices"

// samples are what was measured, by the rival's name.
type samples map[string][]float64

func (s samples) add(r rival, value float64) { s[r.name] = append(s[r.name], value) }

// percentile returns the value below which p of 100 are, and 0 for nothing.
func percentile(values []float64, p float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	if len(sorted) == 0 {
		return 0
	}
	place := p / 100 * float64(len(sorted)-1)
	i := int(place)
	if i == len(sorted)-1 {
		return sorted[i]
	}
	return sorted[i] + (place-float64(i))*(sorted[i+1]-sorted[i])
}

func median(values []float64) float64 { return percentile(values, 50) }
