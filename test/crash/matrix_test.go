//go:build linux && amd64

package crash

import (
	"slices"
	"testing"

	"locksmith/test/ftpserver"
	"locksmith/test/lab"
	"locksmith/test/lab/mishaps"
)

// provoked are all mishaps that this package causes.
var provoked = slices.Concat(processes, surroundings, []mishap{elsewhen}, networks)

// TestCover: everything that may happen to a lock happens here, with these exceptions.
func TestCover(t *testing.T) {
	var all []mishaps.Mishap
	for _, m := range provoked {
		all = append(all, m.Mishap)
	}
	const nowhere = "not done to this machine: test/nfslab does it to a machine of its own"
	mishaps.Cover(t, all, map[string]string{
		mishaps.ClocksAhead.What: nowhere, mishaps.ClocksBack.What: nowhere, mishaps.KilledAhead.What: nowhere,
		mishaps.KilledBack.What: nowhere, mishaps.Suspended.What: nowhere, mishaps.LongSuspended.What: nowhere,
		mishaps.RequestsCut.What: "without requests there are no answers: that is the way cut both ways",
	})
}

// quickServer is the server at which the quick cells are judged.
const quickServer = "proftpd"

// TestMatrix goes through all cells.
func TestMatrix(t *testing.T) {
	lab.NotShort(t, "some leases run out")
	besideOthers(t)
	var disk, remote [][]string
	t.Run("cells", func(t *testing.T) {
		t.Run("disk", func(t *testing.T) {
			t.Parallel()
			disk = cells(t, nil, onDisk)
		})
		t.Run("servers", func(t *testing.T) {
			t.Parallel()
			shared := servers{}
			for _, k := range atServers {
				if shared[k.server] == nil && (*long || k.server == quickServer) {
					shared[k.server] = ftpserver.Start(t, k.server, ftpserver.Options{})
				}
			}
			remote = cells(t, shared, atServers)
		})
	})
	rows := slices.Concat(disk, remote)
	rows = append(append(rows, notHere()...), suspended(t))
	page := section{title: "The matrix", text: matrixText, judged: judgedQuickly, keys: 2, rows: rows,
		head: slices.Concat([]string{"what happens", "lock"}, mishaps.Moments)}
	page.publish(t)
}

// cells returns the rows of some kinds of locks. Their cells are filled in when the test has
// ended.
func cells(t *testing.T, shared servers, kinds []kind) (rows [][]string) {
	for _, m := range provoked {
		for _, k := range kinds {
			if k.shared || m.where != nil && !m.where(k) || k.isRemote() && shared[k.server] == nil {
				continue
			}
			row := append([]string{m.What, "`" + k.name + "`"}, make([]string, len(mishaps.Moments))...)
			rows = append(rows, row)
			for i, moment := range mishaps.Moments {
				fill(t, shared, m, k, moment, &row[2+i])
			}
		}
	}
	return rows
}

const judgedQuickly = "Every run of the tests judges the quick cells, on the disk of the machine and at ProFTPD; `test/run --long`\n" +
	"all of them."

const matrixText = "A *victim* waits for a lock or holds it, and a rival wants it, too. At a moment of the victim's life\n" +
	"something happens. The moments are exact, because the victim is made to pause before a system call\n" +
	"(or, at FTP servers, a command):\n\n" +
	"- *waiting*: it has just learnt that somebody else has the lock\n" +
	"- *at OK*: it has the lock, and is about to tell its parent\n" +
	"- *holding*: it has said OK, and sleeps\n" +
	"- *heartbeat*: it is about to send a heartbeat\n" +
	"- *releasing*: its parent has let go, and it is about to make the first change\n\n" +
	"A cell says when the rival got the lock. That is counted from what happened; while the victim\n" +
	"waited, from the release by the lock's holder; where a server was away, from its return. Then the\n" +
	"cell has the helper's *output* as its parent got it: the first words of the lines, or that the\n" +
	"output ended without RELEASED, which is a loss, too. For *run* that is its exit status. *Before\n" +
	"that* and *after that* say whether the parent heard of the loss before the rival had the lock; with\n" +
	"`flock:` the kernel tells both of a death, in any order. *Held on*: the victim held the lock for one\n" +
	"and a half leases, and then released it in good order. Afterwards the lock is free, and can be\n" +
	"taken. Leases are 8 s; an hour where nobody waits for them, 16 s where a server comes back or the\n" +
	"way to it is cut, 4 s where it comes back too late.\n\n" +
	"Want of memory is a kill by the kernel, in a control group whose memory another process takes. The\n" +
	"full disk is a small tmpfs without a byte or a name left. To set a clock would set that of the whole\n" +
	"machine (over NFS there is one to set: see the next table). What others could see of a clock that\n" +
	"was set are the times of files, so these are set an hour off. If a server is killed, that is the FTP\n" +
	"server's process. If the way to it is cut, a proxy between it and the victim passes nothing more. If\n" +
	"only the way there is cut, there are no answers either: that is the same as both ways.\n"

// fill fills in one cell.
func fill(t *testing.T, s servers, m mishap, k kind, moment string, to *string) {
	fillAs(t, s, m, k, moment, false, to)
}

// fillAs is fill for a victim that serves one lock, or is of a pool.
func fillAs(t *testing.T, s servers, m mishap, k kind, moment string, pool bool, to *string) {
	if why, ok := m.Not[moment]; ok {
		*to = why
		return
	}
	*to = ""
	if !*long && !slices.Contains(m.few, moment) {
		return // an empty cell is not compared
	}
	t.Run(m.What+"/"+k.name+"/"+moment, func(t *testing.T) {
		t.Parallel()
		c := &cell{place: s.place(t, m, k), mishap: m, moment: moment, pool: pool}
		*to = c.live()
		t.Log(*to)
		if at := k.names(); !m.Want.Allows(*to, moment, at...) {
			t.Errorf("%q, want %q", *to, m.Want.Of(moment, at...))
		}
	})
}
