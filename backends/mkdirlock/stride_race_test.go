//go:build race

package mkdirlock

// stride is more than one where the race detector makes everything slow.
const stride = 29
