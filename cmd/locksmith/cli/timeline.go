package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"locksmith/backends/backend"
	"locksmith/cmd/locksmith/cli/flags"
	"locksmith/cmd/locksmith/timeline"
	"locksmith/locksmith/events"
	"locksmith/protocol"
)

const (
	defaultRows = 1000
	// maxEvents bounds the memory that a picture takes.
	maxEvents = 1_000_000
	// maxWrong is how many wrong lines of a file are told one by one.
	maxWrong = 10
)

func (a *app) timeline() *cobra.Command {
	var out string
	rows := flags.Number{Value: defaultRows, Least: 1, Most: math.MaxInt32}
	c := &cobra.Command{
		Use:   "timeline [flags] FILE…",
		Short: "Draw who held locks and who waited",
		Long: "Read FILE…, which --events of hold and run wrote (- is standard input), and draw an SVG with a row\n" +
			"for each process under each of its locks. Lines that are no events are left out: timeline tells of\n" +
			"them, and exits with 78.",
		Example: "  locksmith timeline -o billing.svg /var/log/billing.events",
		Args:    atLeastOne("file of events"),
	}
	c.Flags().StringVarP(&out, "output", "o", "", "draw into this `file` (default: standard output)")
	c.Flags().Var(&rows, "rows", "draw so many rows at most, of the first processes")
	c.RunE = func(_ *cobra.Command, args []string) error {
		var all []events.Event
		for _, file := range args {
			var err error
			if all, err = a.readEvents(all, file); err != nil {
				return err
			}
		}
		if len(all) == 0 {
			return eventsError(strings.Join(args, " "), protocol.Config, errors.New("there is no event"), "name files that --events wrote")
		}
		svg, left := timeline.Draw(all, int(rows.Value))
		if left > 0 {
			fmt.Fprintf(os.Stderr, "locksmith: %d of the processes are not drawn; draw more with --rows\n", left)
		}
		return a.writePicture(out, svg)
	}
	return c
}

// readEvents adds the events of a file to all. It tells of lines that are none.
func (a *app) readEvents(all []events.Event, file string) ([]events.Event, error) {
	f := os.Stdin
	if file != "-" {
		var err error
		if f, err = os.Open(file); err != nil {
			return nil, unreadable(file, err)
		}
		defer f.Close()
	}
	wrong := 0
	for e, err := range events.Read(f) {
		switch {
		case err == nil && len(all) == maxEvents:
			return nil, eventsError(file, protocol.Usage, fmt.Errorf("more than %d events", maxEvents), "draw fewer files at a time")
		case err == nil:
			all = append(all, e)
		case !errors.Is(err, events.ErrMalformed):
			return nil, unreadable(file, err)
		default:
			if wrong++; wrong <= maxWrong {
				report(eventsError(file, protocol.Config, err, "it is left out"))
			}
		}
	}
	if wrong > 0 {
		a.settle(protocol.Config.Exit())
	}
	if wrong > maxWrong {
		report(eventsError(file, protocol.Config, fmt.Errorf("%d more such lines", wrong-maxWrong), "they are left out"))
	}
	return all, nil
}

func eventsError(file string, code protocol.Code, cause error, hint string) error {
	return &backend.Error{Code: code, Lock: file, Op: "read events", Err: cause, Hint: hint}
}

func unreadable(file string, err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return eventsError(file, protocol.Permission, err, "allow this user to read it")
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.EISDIR):
		return eventsError(file, protocol.Usage, err, "name a file that --events wrote")
	}
	return eventsError(file, protocol.Internal, err, "")
}

func (a *app) writePicture(out string, svg []byte) error {
	if out == "" {
		_, err := a.out.Write(svg)
		return err
	}
	f, err := events.Create(out)
	if err == nil {
		_, err = f.Write(svg)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return backend.FileError(out, "write the picture", err)
	}
	return nil
}
