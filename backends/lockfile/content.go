package lockfile

import (
	"encoding/binary"
	"strconv"
	"strings"

	"locksmith/backends/backend"
	"locksmith/backends/owner"
	"locksmith/backends/process"
	"locksmith/protocol"
)

// A Content is what a file says about its owner.
type Content struct {
	Record *owner.Record // nil: the file has no record
	PID    int           // if the file holds nothing but a pid; else 0
	Binary bool          // the pid is in binary, with a record behind it or not
	Host   string        // on which host the other tool has that pid; "": it did not write that
	Text   string
}

// MaxText is the length in bytes that a lock file of ours has at most: a pid and a record.
const MaxText = len("18446744073709551615\n") + protocol.MaxLine

// Format is the text of a lock file. The first line is the helper's pid in decimal, for tools
// that read pid files. The second line is the record (owner.Record.Format).
func Format(r owner.Record) (string, error) {
	line, err := r.Format()
	if err != nil {
		return "", err
	}
	return strconv.Itoa(r.Helper.PID) + "\n" + line, nil
}

// FormatBinary is Format with the pid as the four bytes of a C int, for programs that read those.
func FormatBinary(r owner.Record) (string, error) {
	line, err := r.Format()
	if err != nil {
		return "", err
	}
	return string(binary.NativeEndian.AppendUint32(nil, uint32(r.Helper.PID))) + "\n" + line, nil
}

const sizeOfPID = 4 // in bytes, where it is binary: pid_t

// Rest is what follows the pid of a file that Format or FormatBinary wrote.
func (c Content) Rest() string {
	if c.Binary {
		return c.Text[sizeOfPID:]
	}
	return strings.TrimLeft(c.Text, "0123456789")
}

// NoBinary is why a lock file with such a pid in it is of no use to those who write a decimal pid.
const NoBinary = "a program keeps its pid there in binary: it would take a record of ours for the pid of nobody, and remove the lock"

// Foreign says what a file holds that has neither a record nor a pid.
func Foreign(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	return "made by another tool: it holds " + backend.Quoted(first)
}

// Parse parses what Format or FormatBinary wrote, or another tool's pid: in decimal with blanks around
// it, or as the four bytes of a C int. With inBinary it is known to be such an int. Otherwise four bytes
// that may be a decimal pid are none: programs in C write that together with the zero at its end, and
// "123\x00" need not be pid 3355185.
func Parse(text string, isBlank func(rune) bool, inBinary bool) Content {
	c := Content{Text: text}
	if pid, rest, ok := binaryPID(text); ok {
		r, err := owner.ParseRecord(rest)
		if ours := err == nil && r.Helper.PID == pid; ours || inBinary || !mayBeDecimal(text[:sizeOfPID]) {
			c.Binary = true
			if ours {
				c.Record = &r
			} else if len(text) == sizeOfPID {
				c.PID = pid
			}
			return c
		}
	}
	first, rest, _ := strings.Cut(text, "\n")
	pid, err := strconv.Atoi(strings.TrimFunc(first, isBlank))
	if err == nil && pid > 0 && pid <= process.MaxPID && strings.TrimFunc(rest, isBlank) == "" {
		c.PID = pid
		return c
	}
	if r, err := owner.ParseRecord(rest); err == nil && r.Helper.PID == pid {
		c.Record = &r
	} else if host, pid, ok := tclOwner(text); ok {
		c.Host, c.PID = host, pid
	}
	return c
}

// tclOwner reads what the lockf of Tcl (wiki.tcl-lang.org, Lock files using atomic hard links) writes: a
// list of names and values in any order, as in
//
//	pid 4242 host web3 lockfile /var/lock/a randomiser {} time {2026-11-27 16:46:53.12} …
//
// It takes no list in which a value has braces within, as of a path with blanks and braces.
func tclOwner(text string) (host string, pid int, ok bool) {
	state := map[string]string{}
	for text = strings.TrimSpace(text); text != ""; {
		var name, value string
		name, text, _ = strings.Cut(text, " ")
		if rest, braced := strings.CutPrefix(text, "{"); braced {
			value, text, ok = strings.Cut(rest, "}")
			text = strings.TrimPrefix(text, " ")
		} else {
			value, text, ok = strings.Cut(text, " ")
			ok = ok || value != ""
		}
		if _, twice := state[name]; twice || !ok {
			return "", 0, false
		}
		state[name] = value
	}
	pid, err := strconv.Atoi(state["pid"])
	ours := state["locker"] != "" && state["lockfile"] != "" && state["timestamp"] != ""
	return state["host"], pid, ours && err == nil && pid > 0 && pid <= process.MaxPID && state["host"] != ""
}

// binaryPID reads a pid as kermit, and programs with pack("i", $$), write it, and returns what
// FormatBinary has put behind it. One byte of such a pid is zero, because pids are small.
func binaryPID(text string) (pid int, rest string, ok bool) {
	if len(text) < sizeOfPID || len(text) > sizeOfPID && text[sizeOfPID] != '\n' {
		return 0, "", false
	}
	n := binary.NativeEndian.Uint32([]byte(text[:sizeOfPID]))
	return int(n), strings.TrimPrefix(text[sizeOfPID:], "\n"), n > 0 && n <= process.MaxPID
}

func mayBeDecimal(text string) bool {
	_, err := strconv.Atoi(strings.Trim(text, "\x00 \t\r\n"))
	return err == nil
}

// Holds reports whether the file holds the record of the acquisition with this id.
func (c Content) Holds(id string) bool { return c.Record != nil && c.Record.ID == id }

// Verdict judges the holder by its record, or by the pid of another tool on this machine.
func (c Content) Verdict(judge func(owner.Record) owner.Verdict) owner.Verdict {
	switch _, lives := c.Process(); {
	case c.Record != nil:
		return judge(*c.Record)
	case c.PID == 0 || c.isElsewhere():
		return owner.Unknown
	case lives:
		return owner.Alive
	}
	return owner.Dead
}

// isElsewhere reports whether the pid may be of another host or container. A host's name proves little,
// because containers of one image may share it. So it counts only outside of containers.
func (c Content) isElsewhere() bool {
	here := owner.Here()
	return c.Host != "" && (c.Host != here.Host || here.PIDNS != process.FirstPIDNS || strings.HasPrefix(c.Host, "localhost"))
}

// Process returns the process with the pid that another tool wrote, and whether there is one.
func (c Content) Process() (p process.Process, lives bool) {
	p.PID = c.PID
	return p, c.PID != 0 && !c.isElsewhere() && !p.Gone()
}
