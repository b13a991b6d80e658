package history

import (
	"strings"
	"sync"
)

// firstBytes keeps the beginning of what is written to it.
type firstBytes struct {
	mu   sync.Mutex
	text strings.Builder
}

const mostBytes = 20_000

func (b *firstBytes) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.text.Len() < mostBytes {
		b.text.Write(p)
	}
	return len(p), nil
}

func (b *firstBytes) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
