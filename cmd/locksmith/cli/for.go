package cli

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

// A forFlag is --for: the guarded file or, told by its unit, how long to hold.
type forFlag guarded

func (f *forFlag) Set(text string) error {
	d, ok := durationWithUnit(text)
	switch {
	case text == "":
		return errors.New("the name of the file is empty: is a variable of the shell unset?")
	case !ok:
		return f.setFile(text)
	case f.most == nil:
		return fmt.Errorf("only hold takes a duration (for run write: -- timeout %s COMMAND); a file of that name is written ./%s", text, text)
	case d <= 0:
		return fmt.Errorf("give more than no time; a file of that name is written ./%s", text)
	case *f.most != 0 && *f.most != seconds(d): // the completions parse flags twice
		return errors.New("it says twice for how long")
	}
	*f.most = seconds(d)
	return nil
}

func (f *forFlag) setFile(name string) error {
	if f.file != "" && f.file != name {
		return errors.New("it names two files")
	}
	f.file = name
	return nil
}

func (f *forFlag) String() string { return f.file }

// Type names the flag's argument in help texts.
func (f *forFlag) Type() string {
	if f.most != nil {
		return "duration|file"
	}
	return "file"
}

// durationWithUnit reads a duration such as 8h. A bare number may well be the name
// of a file.
func durationWithUnit(text string) (time.Duration, bool) {
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return 0, false
	}
	d, err := time.ParseDuration(text)
	return d, err == nil
}
