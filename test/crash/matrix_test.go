//go:build linux && amd64

package crash

import (
	"maps"
	"slices"
	"testing"

	"locksmith/test/ftpserver"
)

// An expectation is what a cell must be, but for times, by moment; "" stands for all
// others. A key that begins with the scheme of a lock, or with its name, goes first.
type expectation map[string]string

func (e expectation) of(k kind, moment string) string {
	for _, key := range []string{k.name + " " + moment, k.scheme + ": " + moment, moment} {
		if want, known := e[key]; known {
			return want
		}
	}
	return e[""]
}

const (
	released = ", output: OK, RELEASED"
	// Who has let go need not know whether it was broken meanwhile.
	eitherSaid     = ", output: OK, LOST or RELEASED"
	heldUntilAwake = "held until it runs again, output: OK, LOST"
	waitsOn        = "waits on, has it next" + released
)

var (
	// survives: nothing happens.
	survives = expectation{waiting: waitsOn, releasing: atOnce + released, "": "held on" + released}
	// dies: it is for the lease to decide, for the parent may go on working.
	dies = expectation{
		waiting: atOnce + ", output: end of output",
		atOK:    afterLease + ", output: end of output",
		"":      afterLease + ", output: OK, end of output before that",
	}
	// isCutOff: it gives up by its own clock.
	isCutOff = expectation{waiting: atOnce + released, releasing: afterLease + eitherSaid, "": afterLease + ", output: OK, LOST before that"}
)

// but is the same with other cells.
func (e expectation) but(others expectation) expectation {
	all := maps.Clone(e)
	maps.Copy(all, others)
	return all
}

// TestMatrix goes through all cells.
func TestMatrix(t *testing.T) {
	shared := servers{}
	for _, name := range []string{"proftpd", "vsftpd"} {
		if *long {
			shared[name] = ftpserver.Start(t, name, ftpserver.Options{})
		}
	}
	var rows [][]string
	t.Run("cells", func(t *testing.T) {
		for _, m := range slices.Concat(processes, surroundings, []mishap{elsewhen}, networks) {
			for _, k := range slices.Concat(onDisk, atServers) {
				if k.shared || m.where != nil && !m.where(k) || k.isRemote() && !*long {
					continue
				}
				row := append([]string{m.what, "`" + k.name + "`"}, make([]string, len(moments))...)
				rows = append(rows, row)
				for i, moment := range moments {
					fill(t, shared, m, k, moment, &row[2+i])
				}
			}
		}
	})
	rows = append(append(rows, notHere()...), suspended(t))
	page := section{title: "The matrix", text: matrixText, judged: judgedQuickly, keys: 2, rows: rows,
		head: slices.Concat([]string{"what happens", "lock"}, moments)}
	page.publish(t)
}

const judgedQuickly = "Every run of the tests judges the quick cells, on the disk of the machine; `test/run --long`\n" +
	"all of them."

const matrixText = "A *victim* waits for a lock or holds it, and a rival wants it, too. At a moment of the victim's\n" +
	"life something happens. The moments are exact, for the victim is made to pause before a system call (or, at\n" +
	"FTP servers, a command):\n\n" +
	"- *waiting*: it has just learnt that somebody else has the lock\n" +
	"- *at OK*: it has the lock, and is about to tell its parent\n" +
	"- *holding*: it has said OK, and sleeps\n" +
	"- *heartbeat*: it is about to send one\n" +
	"- *releasing*: its parent has let go, and it is about to make the first change\n\n" +
	"A cell says when the rival got the lock, counted from what happened (while waiting: from the\n" +
	"release of who had it; where a server was away: from its return), and the helper's *output* as its\n" +
	"parent got it: the first words of the lines, or that the output ended without RELEASED, which is a loss,\n" +
	"too; for *run* its exit status. *Before that* and *after that*: whether it heard of the loss before\n" +
	"the rival had the lock. *Held on*: for one and a half leases, and then it was released in good\n" +
	"order. Afterwards the lock is free, and can be taken. Leases are 8 s; 16 s where nobody waits for\n" +
	"them, a server comes back or the way to it is cut, 4 s where it comes back too late.\n\n" +
	"Want of memory is a kill by the kernel, in a control group whose memory another process takes.\n" +
	"The full disk is a small tmpfs without a byte or a name left. A clock that is set cannot be\n" +
	"had without setting that of the whole machine (over NFS there is one to set: see the next table); what others\n" +
	"could see of it are the times of files, which are set an hour off. Where a server is killed, or the way to it is cut, it is the FTP\n" +
	"server's process, or a proxy between it and the victim that passes nothing more. If only the way there is cut there\n" +
	"are no answers either: that is the same as both ways.\n"

// fill fills in a cell.
func fill(t *testing.T, s servers, m mishap, k kind, moment string, to *string) {
	if why, ok := m.not[moment]; ok {
		*to = why
		return
	}
	*to = ""
	if !m.quick && !*long {
		return // an empty cell is not compared
	}
	t.Run(m.what+"/"+k.name+"/"+moment, func(t *testing.T) {
		t.Parallel()
		c := &cell{place: s.place(t, m, k), mishap: m, moment: moment}
		*to = c.live()
		t.Log(*to)
		if seen, want := measured.ReplaceAllString(*to, ""), m.want.of(k, moment); seen != want {
			t.Errorf("%q, want %q", seen, want)
		}
	})
}
