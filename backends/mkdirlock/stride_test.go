//go:build !race

package mkdirlock

// stride is how many calls TestFaults goes on after each; 1 takes half a minute.
const stride = 3
