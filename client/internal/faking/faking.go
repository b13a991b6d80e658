// Package faking is how package clienttest gets a helper of its own into package client.
package faking

import (
	"context"
	"os"
)

// A Helper takes the place of a helper's process. It gets the arguments of hold and the locks.
// It reads its standard input to the end, writes lines, and returns when it has ended.
type Helper func(args, locks []string, stdin, stdout *os.File)

type key struct{}

// With returns a context in which h takes the place of helpers.
func With(ctx context.Context, h Helper) context.Context { return context.WithValue(ctx, key{}, h) }

// From returns what With was given, or nil.
func From(ctx context.Context) Helper {
	h, _ := ctx.Value(key{}).(Helper)
	return h
}
