package faulty

import "context"

// Names are the calls that every directory of locks has.
type Names interface {
	Mkdir(ctx context.Context, name string) error
	Rmdir(ctx context.Context, name string) error
	Rename(ctx context.Context, from, to string) error
	List(ctx context.Context, name string) ([]string, error)
}

// A Directory hands these calls to a Hook.
type Directory struct {
	Names
	Hook
}

// Mkdir implements Names.
func (d Directory) Mkdir(ctx context.Context, name string) error {
	return d.Make("mkdir", name, "", func() error { return d.Names.Mkdir(ctx, name) })
}

// Rmdir implements Names.
func (d Directory) Rmdir(ctx context.Context, name string) error {
	return d.Make("rmdir", name, "", func() error { return d.Names.Rmdir(ctx, name) })
}

// Rename implements Names.
func (d Directory) Rename(ctx context.Context, from, to string) error {
	return d.Make("rename", from, to, func() error { return d.Names.Rename(ctx, from, to) })
}

// List implements Names.
func (d Directory) List(ctx context.Context, name string) ([]string, error) {
	return Ask(d.Hook, "list", name, func() ([]string, error) { return d.Names.List(ctx, name) })
}
