package cli

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"locksmith/protocol"
)

// A Section is a part of the man pages that no help text has.
type Section struct {
	Title   string
	Entries []Entry
}

// An Entry explains a term.
type Entry struct{ Term, Text string }

// Reference returns the sections of a command's page.
func Reference(c *cobra.Command) []Section {
	if c.Name() == "flock" {
		return []Section{{"Exit status", flockStatuses()}}
	}
	sections := []Section{{"Exit status", ExitStatuses()}}
	if c.Flags().Lookup("insecure") == nil && c.HasParent() { // it does not open locks
		return sections
	}
	return append(sections, Section{"Environment", environment(c)}, Section{"Files", files()})
}

// ExitStatuses returns what each exit status means.
func ExitStatuses() []Entry {
	all := []Entry{{"0", "held and released; for run: the command's own status; also if --once-per kept it from being run"}}
	for _, m := range meanings() {
		all = append(all, Entry{strconv.Itoa(m.code.Exit()), m.why})
	}
	all = append(all,
		Entry{"126, 127", "run: the command cannot be run, or is not found"},
		Entry{"128+n", "signal n ended run's command, or locksmith; but a signal ends hold with 75 before OK, and with 0 after OK " +
			"if it has no pipe to a parent; Ctrl-C ends status --watch with 0 on a terminal"})
	return append(all, Entry{"several", "if arguments fail for different reasons the first of these decides: " + severities()})
}

// severities are the exit statuses, the most severe first.
func severities() string {
	var all []string
	for _, status := range severity {
		all = append(all, strings.Replace(strconv.Itoa(status), strconv.Itoa(protocol.BySignal), "128+n", 1))
	}
	return strings.Join(all, ", ")
}

type meaning struct {
	code protocol.Code
	why  string
}

// meanings has one code for each exit status, ordered by status.
func meanings() []meaning {
	return []meaning{
		{protocol.Usage, "the command line makes no sense; timeline: there is no such file"},
		{protocol.Unreachable, "the lock's place cannot be reached"},
		{protocol.Internal, "a fault of locksmith or the system"},
		{protocol.CannotCreate, "the place is not fit for the lock"},
		{protocol.Held, "held by somebody else, or the time was over (-E chooses another); hold: the parent went away, or a signal came, before OK; " +
			"reap: something must be watched for longer than --watch; break: the holder lives, or may live; remove: somebody uses the lock"},
		{protocol.Permission, "no permission"},
		{protocol.Config, "a configuration file is wrong, or there is no such profile; timeline: a line is no event, or none is"},
		{protocol.Gone, "the lock was lost, or could not be removed; hold: or released before the parent let go; break: nobody there has this id; check: it is not the newest token"},
		{protocol.MaxHold, "the lock was held for as long as --max-hold allows"},
	}
}

func environment(c *cobra.Command) []Entry {
	all := []Entry{
		{"LOCKSMITH_PASSWORD", "the password at a server, if no profile says where it is; run's command does not see it"},
		{"LOCKSMITH_SSH, LOCKSMITH_CERTIFICATE", "if no profile has ssh or certificate: the command that connects to servers of sftp:, and the file with our certificate and its key for etcd:"},
		{"AWS_PROFILE, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, …", "how to get at object stores, as for all programs for them"},
		{"NETRC", "the file to look passwords up in, instead of ~/.netrc"},
		{"XDG_CONFIG_HOME", "where the profiles are: in locksmith/profiles.toml below it, instead of ~/.config"},
		{"XDG_RUNTIME_DIR, XDG_STATE_HOME", "below which tries remember what they saw of holders on other hosts: in the first that can be used, or ~/.local/state; root's go below /run"},
		{"HOME", "what ~ stands for"},
	}
	if c.Name() == "run" || !c.HasParent() {
		all = append(all,
			Entry{"LOCKSMITH_LOCK", "set for run's command: the lock's address"},
			Entry{"LOCKSMITH_ID", "set for run's command: the id of this acquisition"},
			Entry{"LOCKSMITH_TOKEN", "set for run's command: the fencing token, where there is one"})
	}
	return all
}

func files() []Entry {
	return []Entry{
		{"~/.config/locksmith/profiles.toml", "your profiles: names for locks, with their settings"},
		{"/etc/locksmith/profiles.toml", "everybody's profiles; your own go before them"},
		{"~/.netrc", "passwords, if only you may read it"},
		{"$XDG_RUNTIME_DIR/locksmith, /run/locksmith, ~/.local/state/locksmith", "what tries remember; it may be removed at any time"},
	}
}
