//go:build !race

package mkdirlock

// stride is by how many calls TestFaults moves the fault each time; 1 takes half a minute.
const stride = 3
