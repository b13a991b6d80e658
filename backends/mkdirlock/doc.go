// Package mkdirlock locks with directories only: algorithm B.
package mkdirlock
