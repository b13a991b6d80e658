// Command locksmith-man writes locksmith's man pages into a directory: from the help of the commands
// those of section 1, and from the pages of the guide that it is given those of section 7. It is a
// program of its own, so that locksmith need not carry it. The pages bear the date of
// SOURCE_DATE_EPOCH, or none.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"locksmith/cmd/locksmith/cli"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "locksmith-man:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return errors.New("need a directory to write man pages to, and perhaps pages of the guide")
	}
	dir, pages := args[0], args[1:]
	date, err := date(os.Getenv("SOURCE_DATE_EPOCH"))
	if err != nil {
		return err
	}
	for _, c := range all(cli.Commands()) {
		if err := os.WriteFile(filepath.Join(dir, name(c)+".1"), page(c, pages, date), 0o644); err != nil {
			return fmt.Errorf("write the page of %s: %w", c.CommandPath(), err)
		}
	}
	for _, file := range pages {
		text, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("read a page of the guide: %w", err)
		}
		if err := os.WriteFile(filepath.Join(dir, guidePage(file)+".7"), guide(file, string(text), date), 0o644); err != nil {
			return fmt.Errorf("write the page of %s: %w", file, err)
		}
	}
	return nil
}

// date is the date of a number of seconds since 1970, or "".
func date(epoch string) (string, error) {
	if epoch == "" {
		return "", nil
	}
	n, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return "", fmt.Errorf("SOURCE_DATE_EPOCH=%q: write seconds since 1970: %w", epoch, err)
	}
	return time.Unix(n, 0).UTC().Format(time.DateOnly), nil
}

// all returns a command and all commands below it.
func all(c *cobra.Command) []*cobra.Command {
	commands := []*cobra.Command{c}
	for _, sub := range c.Commands() {
		if !sub.Hidden {
			commands = append(commands, all(sub)...)
		}
	}
	return commands
}

// name is the name of a command's page.
func name(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }
