package cli

import (
	"errors"
	"io"
	"os"
	"strings"

	"locksmith/backends/backend"
	"locksmith/locksmith"
	"locksmith/protocol"
)

// hints is the one table of what to do next; protocol.Code.Exit is the one
// table of exit statuses. An error that brings its own advice needs none.
var hints = map[protocol.Code]string{
	protocol.Usage:       "see: locksmith help",
	protocol.Unreachable: "try again later",
	protocol.Held:        "wait longer with --timeout, or see who with: locksmith status LOCK",
	protocol.Timeout:     "wait longer with --timeout, or see who with: locksmith status LOCK",
	protocol.Gone:        "find out who removed the lock: what it guards may have had two users",
	protocol.Expired:     "look for what stopped this machine, or the lock's place, for so long",
	protocol.Unreleased:  "see: locksmith status LOCK",
}

// exitStatus is the exit status of an error. A command that cannot be run has
// the one that shells give it.
func exitStatus(err error) int {
	var command *locksmith.CommandError
	if errors.As(err, &command) {
		return command.Status
	}
	return codeOf(err).Exit()
}

func codeOf(err error) protocol.Code {
	var usage usageError
	if errors.As(err, &usage) {
		return protocol.Usage
	}
	// Cobra's own complaints have no type.
	if strings.HasPrefix(err.Error(), "unknown command") {
		return protocol.Usage
	}
	return locksmith.CodeOf(err)
}

// note reports one of several errors. The first decides the exit status, unless there
// is a signal.
func (a *app) note(err error) {
	report(err)
	if signal, ok := errors.AsType[*locksmith.SignalError](err); ok {
		a.status = signalStatus(signal)
	} else if a.status == 0 {
		a.status = exitStatus(err)
	}
}

// report tells people about an error, on standard error.
func report(err error) { reportTo(os.Stderr, err) }

func reportTo(out io.Writer, err error) {
	text := "locksmith: " + protocol.CleanText(err.Error(), protocol.MaxLine) + "\n"
	var own *backend.Error
	var held *backend.HeldError
	advised := errors.As(err, &own) && own.Hint != "" || errors.As(err, &held) && held.Holder.Advice != ""
	if hint := hints[codeOf(err)]; hint != "" && !advised {
		text += "  " + hint + "\n"
	}
	if own != nil && own.Code == protocol.CannotCreate {
		text += otherKind(own.Lock)
	}
	_, _ = io.WriteString(out, text)
}
