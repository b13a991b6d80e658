//go:build unix && !linux

package local

import (
	"context"
	"errors"
)

func (s sighting) removal(context.Context, string) (<-chan struct{}, error) {
	return nil, errors.ErrUnsupported
}
