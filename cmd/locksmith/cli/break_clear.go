package cli

import (
	"context"
	"fmt"

	"locksmith/cmd/locksmith/cli/flags"
	"locksmith/cmd/locksmith/cli/term"
	"locksmith/protocol"
)

// nameless is the sign of the one who is there, if it has no id and can be removed all
// the same; else "".
func (b *breaking) nameless(s lockStatus) string {
	all := s.all()
	if len(all) != 1 || all[0].ID != "" {
		return ""
	}
	return all[0].Sign
}

// clear removes what has no id, such as a file that another tool left, if the one who
// asks says yes to what is shown.
func (b *breaking) clear(ctx context.Context, p presence) error {
	b.show(p)
	lock := protocol.CleanText(b.address, protocol.MaxLine)
	question := lock + ": it has no id, and who made it may still use it: remove it?"
	if answer, err := term.Confirm(ctx, question); err != nil || !answer {
		if err == nil {
			err = b.refuse("it was not confirmed", "answer yes to remove it")
		}
		return err
	}
	_, err := flags.InTime(ctx, b.address, "remove it", func(ctx context.Context) (struct{}, error) {
		return struct{}{}, b.backend.Break(ctx, p.Sign)
	})
	if err != nil {
		return err
	}
	b.result.Broken, b.result.Forced, b.result.State = true, true, "unknown"
	if s, err := b.look(ctx); err == nil {
		b.result.State = s.State
	}
	if !b.asJSON {
		fmt.Fprintf(b.out, "%s: removed what was %s\n", lock, p)
	}
	return nil
}
