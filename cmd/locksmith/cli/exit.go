package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"locksmith/backends"
	"locksmith/backends/backend"
	"locksmith/backends/condition"
	"locksmith/cmd/locksmith/cli/flags"
	"locksmith/cmd/locksmith/cli/show"
	"locksmith/locksmith"
	"locksmith/locksmith/child"
	"locksmith/protocol"
)

// hints is the one table of what to do next, in which LOCK stands for the address.
// protocol.Code.Exit is the one table of exit statuses. An error that brings its own advice
// needs no hint.
var hints = map[protocol.Code]string{
	protocol.Usage:       "see: locksmith help",
	protocol.Unreachable: "try again later",
	protocol.Held:        "wait longer with --timeout, or see who with: locksmith status LOCK",
	protocol.Timeout:     "wait longer with --timeout, or see who with: locksmith status LOCK",
	protocol.Gone:        "find out who removed the lock: what it guards may have had two users",
	protocol.Expired:     "look for what stopped this machine, or the lock's place, for so long",
	protocol.Unreleased:  "see: locksmith status LOCK",
	protocol.MaxHold:     "find out what took so long, or allow more with --max-hold",
}

// severity has the exit statuses of errors, the most severe first. First comes what may have
// harmed what a lock guards, or would; then what ended a command before its work was done; then
// what somebody has to mend; at last what may pass by itself.
var severity = []int{
	protocol.Gone.Exit(), protocol.CannotCreate.Exit(), protocol.BySignal, protocol.MaxHold.Exit(), protocol.Internal.Exit(), protocol.Config.Exit(),
	protocol.Usage.Exit(), protocol.Permission.Exit(), protocol.Unreachable.Exit(), protocol.Held.Exit(),
}

// moreSevere returns the more severe of two exit statuses, which decides. A status of the
// guarded command is less severe than all of ours, and 0 is the least.
func moreSevere(a, b int) int {
	if a == 0 || b != 0 && rank(b) < rank(a) {
		return b
	}
	return a
}

func rank(status int) int {
	if i := slices.Index(severity, min(status, protocol.BySignal)); i >= 0 {
		return i
	}
	return len(severity)
}

// exitStatus is the exit status of an error. What became of a lock decides before the signal
// that led to it. If a signal ended a parent's wish for a lock, the parent is told that the wish
// ended. A command that cannot be run has the status that shells give it.
func exitStatus(err error) int {
	if command, ok := errors.AsType[*child.Error](err); ok {
		return command.Status
	}
	code := codeOf(err)
	signal, ok := errors.AsType[*locksmith.SignalError](err)
	if ok && code.Exit() != protocol.Gone.Exit() && code != protocol.Cancelled {
		return protocol.BySignal + int(signal.Signal.(syscall.Signal))
	}
	return code.Exit()
}

// exitStatusOr is exitStatus. But if the lock could not be had, and may be another time, it is
// conflict (the option -E), if given.
func exitStatusOr(conflict flags.Number, err error) int {
	if conflict.Given && isHeld(err) && !isStuck(err) {
		return int(conflict.Value)
	}
	return exitStatus(err)
}

// isStuck reports whether somebody or something has the lock, and nothing is going to free it.
// Neither --quiet nor -E hides that.
func isStuck(err error) bool {
	held, ok := errors.AsType[*backend.HeldError](err)
	return ok && isHeld(err) && condition.IsStuck(held)
}

// isHeld reports whether somebody else has the lock, and nothing went wrong.
func isHeld(err error) bool {
	code := codeOf(err)
	return code == protocol.Held || code == protocol.Timeout
}

// codeOf spells out no error of a lock: for that it would look who has the lock, each time.
func codeOf(err error) protocol.Code {
	if _, ok := errors.AsType[flags.UsageError](err); ok {
		return protocol.Usage
	}
	code := locksmith.CodeOf(err)
	if code == protocol.Internal && strings.HasPrefix(err.Error(), "unknown command") { // cobra's has no type
		return protocol.Usage
	}
	return code
}

// note reports an error, of which there may be several.
func (a *app) note(err error) {
	report(err)
	a.settle(exitStatus(err))
}

// settle notes an exit status. Of several the most severe decides.
func (a *app) settle(status int) { a.status = moreSevere(a.status, status) }

// report tells people about an error, on standard error.
func report(err error) { reportTo(os.Stderr, err) }

func reportTo(out io.Writer, err error) {
	text, before := "locksmith: "+show.Text(protocol.ErrorText(err)), "\n  "
	if isStuck(err) {
		before = "; " // one line, because cron mails it
	}
	if hint := hintOf(err); hint != "" {
		text += before + hint
	}
	_, _ = io.WriteString(out, text+"\n"+otherKindThan(err))
}

// reportRest is reportTo for a reader that has read the error itself.
func reportRest(out io.Writer, err error) {
	text := otherKindThan(err)
	if hint := hintOf(err); hint != "" {
		text = "  " + hint + "\n" + text
	}
	_, _ = io.WriteString(out, text)
}

// isAdvised reports whether an error brings its own advice.
func isAdvised(err error) bool {
	var own *backend.Error
	var held *backend.HeldError
	return errors.As(err, &own) && own.Hint != "" || errors.As(err, &held) && held.Holder.Advice != ""
}

// hintOf is the hint for an error that brings no advice, or "".
func hintOf(err error) string {
	switch {
	case isAdvised(err):
		return ""
	case isStuck(err):
		return wayOut(err)
	}
	if usage, ok := errors.AsType[flags.UsageError](err); ok && usage.Command != "" {
		return hints[protocol.Usage] + " " + usage.Command
	}
	return show.Text(strings.ReplaceAll(hints[codeOf(err)], "LOCK", quoted(lockOf(err))))
}

// wayOut is the advice if nothing is going to free the lock.
func wayOut(err error) string {
	why := "its lease is over"
	if held, ok := errors.AsType[*backend.HeldError](err); ok {
		switch {
		case condition.Of(held.Holder).Condition == condition.Stopped:
			why = "it is stopped"
		case held.Holder.OfKernel:
			why = "the kernel keeps it for what was left"
		}
	}
	return why + ": see what frees the lock with: locksmith status " + show.Text(quoted(lockOf(err)))
}

// otherKindThan tells of a lock of another kind at the place that an error is about, or is "".
func otherKindThan(err error) string {
	if own, ok := errors.AsType[*backend.Error](err); ok && own.Code == protocol.CannotCreate {
		return otherKind(own.Lock)
	}
	return ""
}

// isOneReader reports whether standard output and standard error lead to one terminal, file or
// pipe. Whoever reads the line for the parent there has read the error.
func isOneReader() bool {
	out, err1 := os.Stdout.Stat()
	people, err2 := os.Stderr.Stat()
	return errors.Join(err1, err2) == nil && os.SameFile(out, people)
}

// lockOf is the lock that an error is about; of a set, the one that is held.
func lockOf(err error) string {
	if held, ok := errors.AsType[*backend.HeldError](err); ok {
		return held.Lock
	}
	if loss, ok := errors.AsType[*locksmith.LossError](err); ok {
		return loss.Lock
	}
	return "LOCK"
}

// otherKind tells of a lock of another kind at an address.
func otherKind(address string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	l, err := withDeadline(ctx, address, "look what is there", func(ctx context.Context) (backend.Listed, error) {
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
		text += ", " + show.Participant{Holder: h}.String()
	}
	return "  " + show.Text(text) + "\n"
}
