//go:build linux

package storages

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"locksmith/test/guest"
	"locksmith/test/lab"
)

const (
	renamesTitle = "Renames of directories"
	renameTime   = time.Minute
	renameNames  = 3
)

// renamers are the two storages that are compared: one on which locks were stuck, and one on
// which they hold.
var renamers = []struct {
	storage
	copies int
}{
	{storage{name: "GlusterFS, two copies", server: "gluster", fs: "ext4", programs: "glusterd gluster"}, 2},
	{storage{name: "GlusterFS, no copies", server: "gluster", fs: "ext4", programs: "glusterd gluster"}, 1},
	{storage{name: "Ganesha, NFS 4.2", server: "ganesha", fs: "ext4", options: "vers=4.2", programs: "ganesha.nfsd mount.nfs"}, 0},
}

// A renaming counts what a storage did with renames of directories.
type renaming struct {
	Done   int `json:"done"`
	Undone int `json:"undone"` // of these: how often the old name still existed
	// Refused counts, by their error, refused renames of a directory that existed.
	Refused map[string]int `json:"refused"`
}

// TestRenames: plain system calls, without our programs, show whether a storage does with
// directories what mkdir: relies on.
func TestRenames(t *testing.T) {
	if guest.Inside() {
		return
	}
	if !*long {
		t.Skip("boots three guests: only with -long")
	}
	l := guest.New(t)
	table := ""
	for _, s := range renamers {
		t.Run(strings.ReplaceAll(s.name, " ", "_"), func(t *testing.T) {
			for program := range strings.FieldsSeq(s.programs) {
				lab.NeedProgram(t, program)
			}
			processors := guest.Processors(t)
			said := l.Boot(t, guest.Guest{Hosts: hosts, Disk: true, CPU: <-processors, Run: "^TestRenamesGuest$", Settings: []string{
				"LAB_SERVER=" + s.server, "LAB_FS=" + s.fs, "LAB_OPTIONS=" + s.options, "LAB_COPIES=" + strconv.Itoa(s.copies)}})
			var r renaming
			if m := outcomeLine.FindStringSubmatch(said); m == nil || json.Unmarshal([]byte(m[1]), &r) != nil || r.Done == 0 {
				t.Fatal("the guest gave no outcome")
			}
			table += fmt.Sprintf("| %s | %d | %s | %s |\n", s.name, r.Done, none(r.Undone), refusals(r.Refused))
		})
	}
	if t.Failed() {
		return
	}
	lab.Publish(t, page, renamesTitle, fmt.Sprintf(renamesText, renameTime, renameNames)+table, *update)
}

const renamesText = "Written by `go test ./test/storages -run TestRenames -long -update`. No lock is taken here. For %v each of three hosts makes a\n" +
	"directory under a name of its own, renames it to one of %d names, and removes that, as the other two do with theirs. POSIX lets\n" +
	"each rename succeed: what it replaces is always empty. *Still there* are those that were said to be done, after which the\n" +
	"host still found its own name. *Refused* are errors with the name still there.\n\n" +
	"| storage | renamed | still there | refused |\n| --- | --- | --- | --- |\n"

func none(n int) string {
	if n == 0 {
		return "none"
	}
	return strconv.Itoa(n)
}

func refusals(all map[string]int) string {
	var sum int
	for _, n := range all {
		sum += n
	}
	return none(sum)
}

// TestRenamesGuest runs in the guest.
func TestRenamesGuest(t *testing.T) {
	if !guest.Inside() {
		return
	}
	t.Run("hosts", func(t *testing.T) {
		if err := os.Mkdir(guest.Path(1, mount+"/renames"), 0o777); err != nil {
			t.Fatal(err)
		}
		lab.Eventually(t, "all hosts see it", func() bool {
			for host := 1; host <= hosts; host++ {
				if _, err := os.Stat(guest.Path(host, mount+"/renames")); err != nil {
					return false
				}
			}
			return true
		})
		var mu sync.Mutex
		all := renaming{Refused: map[string]int{}}
		var work sync.WaitGroup
		for host := 1; host <= hosts; host++ {
			work.Go(func() {
				one := rename(guest.Path(host, mount+"/renames"), fmt.Sprintf("own.%d", host))
				mu.Lock()
				defer mu.Unlock()
				all.Done += one.Done
				all.Undone += one.Undone
				for why, n := range one.Refused {
					all.Refused[why] += n
				}
			})
		}
		work.Wait()
		text, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("outcome: %s", text)
	})
}

// rename does it on one host.
func rename(dir, name string) renaming {
	r := renaming{Refused: map[string]int{}}
	own := filepath.Join(dir, name)
	for end := time.Now().Add(renameTime); time.Now().Before(end); {
		to := filepath.Join(dir, fmt.Sprintf("common.%d", rand.IntN(renameNames)))
		_ = unix.Mkdir(own, 0o777) // it may exist, if it was renamed in vain
		err := unix.Rename(own, to)
		_, looked := os.Lstat(own)
		there := looked == nil
		switch {
		case err == nil:
			r.Done++
			if there {
				r.Undone++
			}
			_ = unix.Rmdir(to) // somebody else may have done so
		case there:
			r.Refused[err.Error()]++
		}
	}
	return r
}
