// Package term is for people at a terminal, and for those who read what a command prints. It has
// the terminal's size and whose it is, a question, a screen that is drawn again in place, and
// messages that nobody has to read. Names that come from others cannot move the cursor.
//
// It knows nothing of locks, and of terminals only ECMA-48 and xterm's second screen.
package term

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"
)

// Size is in characters; not ok: f is no terminal, or does not understand how we draw.
func Size(f *os.File) (width, height int, ok bool) {
	width, height, err := term.GetSize(int(f.Fd()))
	return width, height, err == nil && understands(f)
}

// Is reports whether f is a terminal.
func Is(f *os.File) bool {
	_, _, ok := Size(f)
	return ok
}

// Confirm asks a question on standard error that yes or no answers, and reads the answer from
// standard input. When ctx ends, its cause is the error.
func Confirm(ctx context.Context, question string) (yes bool, err error) {
	fmt.Fprintf(os.Stderr, "%s yes or no: ", question)
	line := make(chan string, 1)
	go func() {
		text, _ := bufio.NewReader(os.Stdin).ReadString('\n')
		line <- strings.ToLower(strings.TrimSpace(text))
	}()
	select {
	case text := <-line:
		return text == "y" || text == "yes", nil
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
}
