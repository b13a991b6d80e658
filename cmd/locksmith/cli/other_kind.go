package cli

import (
	"context"
	"errors"
	"strings"
	"time"

	"locksmith/backends"
	"locksmith/backends/backend"
	"locksmith/protocol"
)

// otherKind tells of the lock of another kind that is where one was to be.
func otherKind(address string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	l, err := inTime(ctx, address, "look what is there", func(ctx context.Context) (backend.Listed, error) {
		if l, ok := backends.At(ctx, address); ok {
			return l, nil
		}
		return backend.Listed{}, errors.ErrUnsupported
	})
	its, _, _ := strings.Cut(l.Lock, ":")
	if err != nil || strings.HasPrefix(address, its+":") {
		return ""
	}
	text := "there is a lock: " + l.Lock
	for _, h := range l.Report.Holders {
		text += ", held by " + h.String()
	}
	return "  " + protocol.CleanText(text, protocol.MaxLine) + "\n"
}
