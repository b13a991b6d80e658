package profile

import "strings"

// nearest returns those of the known words that somebody who wrote word may
// have meant.
func nearest(word string, known []string) []string {
	var near []string
	for _, k := range known {
		slips := distance(strings.ToLower(word), strings.ToLower(k))
		begun := len(word) >= 3 && strings.HasPrefix(k, word)
		if begun || slips <= max(1, len(word)/3) {
			near = append(near, k)
		}
	}
	return near[:min(len(near), 3)]
}

// distance counts the letters to insert, remove or replace (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
