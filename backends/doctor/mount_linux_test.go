package doctor

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"locksmith/backends/backend"
)

const table = `22 27 0:21 / /proc rw,nosuid shared:5 - proc proc rw
27 1 259:2 / / rw,relatime shared:1 - ext4 /dev/root rw,errors=remount-ro
40 27 0:33 / /srv rw,relatime - ext4 /dev/sdb rw
41 40 0:34 / /srv/a\040b rw,relatime shared:7 master:1 - nfs4 host:/x\134y rw,vers=4.2,hard,soft
42 40 0:35 / /srv rw,relatime - tmpfs tmpfs ro,size=1m
broken
43 x`

func TestFindMount(t *testing.T) {
	for _, c := range []struct {
		number     uint64
		dir, point string
	}{
		{0, "/home/x", "/"},
		{0, "/srv", "/srv"},
		{0, "/srvx", "/"},
		{0, "/srv/a b/c", "/srv/a b"},
		{40, "/srv", "/srv"},
		{99, "/srv", ""},
	} {
		m, err := findMount(table, c.number, c.dir)
		if m.point != c.point || (err == nil) != (c.point != "") {
			t.Errorf("%+v (number, directory, want): findMount finds %+v, %v", c, m, err)
		}
	}
	if m, _ := findMount(table, 0, "/srv"); m.kind != "tmpfs" || !m.has("ro") {
		t.Errorf("of two mounts with one path findMount finds %+v, not the last", m)
	}
	if m, _ := findMount(table, 41, ""); m.source != `host:/x\y` || !m.has("soft") || slices.Contains(m.options, "shared:7") {
		t.Errorf("mount 41 is parsed as %+v, want its escapes undone, soft, and no shared:7", m)
	}
}

func FuzzMount(f *testing.F) {
	for line := range strings.SplitSeq(table, "\n") {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if _, m, ok := parseMount(line); ok && (m.kind == "" || len(m.options) == 0) {
			t.Errorf("parseMount accepts a line without a kind or options: %+v", m)
		}
	})
}

// found returns the findings by their names.
func found(examine func(backend.Tell)) map[string]backend.Check {
	all := map[string]backend.Check{}
	examine(func(c backend.Check) { all[c.Name] = c })
	return all
}

func TestMounts(t *testing.T) {
	local, hosts := DirNeeds{Kernel: true}, DirNeeds{}
	for _, c := range []struct {
		n    DirNeeds
		m    mount
		want backend.Finding
	}{
		{local, mount{kind: "ext4", source: "/dev/sda"}, backend.Fit},
		{local, mount{kind: "overlay", source: "overlay", options: []string{"rw", "lowerdir=/a:/b"}}, backend.Weak},
		{hosts, mount{kind: "overlay", source: "overlay", options: []string{"rw", "lowerdir=/a:/b"}}, backend.Weak},
		{local, mount{kind: "overlay", source: "overlay", options: []string{"ro", "lowerdir=/a:/b"}}, backend.Unfit},
		{local, mount{kind: "ext4", options: []string{"ro"}}, backend.Unfit},
		{local, mount{kind: "nfs4"}, backend.Unfit},
		{local, mount{kind: "fuse.sshfs"}, backend.Unfit},
		{local, mount{kind: "fuse.glusterfs"}, backend.Unfit},
		{local, mount{kind: "novelty", source: "host:/x"}, backend.Unfit},
		{local, mount{kind: "novelty", source: "//host/x"}, backend.Unfit},
		{DirNeeds{Kernel: true, Anywhere: true}, mount{kind: "nfs4"}, backend.Weak},
		{hosts, mount{kind: "nfs4", options: []string{"rw", "hard"}}, backend.Fit},
		{hosts, mount{kind: "nfs", options: []string{"soft"}}, backend.Weak},
		{hosts, mount{kind: "nfs4", options: []string{"softerr"}}, backend.Weak},
		{hosts, mount{kind: "cifs", options: []string{"soft"}}, backend.Unknown},
		{hosts, mount{kind: "ext4"}, backend.Fit},
		{DirNeeds{Hosts: true}, mount{kind: "ext4", options: []string{"rw"}}, backend.Weak},
		{DirNeeds{Hosts: true}, mount{kind: "autofs", source: "/etc/auto.nfs"}, backend.Weak},
		{DirNeeds{Hosts: true}, mount{kind: "ext4", options: []string{"ro"}}, backend.Unfit},
		{DirNeeds{Hosts: true}, mount{kind: "nfs4", options: []string{"rw", "hard"}}, backend.Fit},
		{DirNeeds{Hosts: true}, mount{kind: "novelty", source: "host:/x"}, backend.Unknown},
		{hosts, mount{kind: "fuse.sshfs"}, backend.Unfit},
		{hosts, mount{kind: "fuse.glusterfs"}, backend.Unfit},
		{hosts, mount{kind: "cifs", options: []string{"soft", "mfsymlinks"}}, backend.Unknown},
		{DirNeeds{Links: true}, mount{kind: "cifs", options: []string{"soft", "mfsymlinks"}}, backend.Unfit},
		{DirNeeds{Links: true}, mount{kind: "cifs", options: []string{"soft"}}, backend.Unknown},
		{DirNeeds{Numbers: true}, mount{kind: "cifs", options: []string{"nolease", "serverino"}}, backend.Unfit},
		{DirNeeds{Numbers: true}, mount{kind: "9p"}, backend.Unknown},
		{hosts, mount{kind: "9p", options: []string{"rw", "mmap"}}, backend.Unknown},
		{hosts, mount{kind: "9p", options: []string{"rw", "loose"}}, backend.Unfit},
		{hosts, mount{kind: "9p", options: []string{"rw", "cache=f"}}, backend.Unfit},
	} {
		all := found(func(tell backend.Tell) { c.n.mount(c.m, tell) })
		if got := all["file system"]; got.Finding != c.want || (got.Finding != backend.Fit && got.Advice == "") {
			t.Errorf("%+v on %+v is %+v, want %v", c.n, c.m, got, c.want)
		}
	}
}

func TestDirectories(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		n    DirNeeds
		mode os.FileMode
		want backend.Finding
	}{
		{DirNeeds{Kernel: true}, 0o755, backend.Fit},
		{DirNeeds{Kernel: true}, 0o777, backend.Unfit},
		{DirNeeds{Kernel: true, Anybody: true}, 0o777, backend.Weak},
		{DirNeeds{Kernel: true}, 0o777 | os.ModeSticky, backend.Fit},
		{DirNeeds{}, 0o777, backend.Weak},
		{DirNeeds{}, 0o777 | os.ModeSticky, backend.Fit},
		{DirNeeds{Removal: true}, 0o777 | os.ModeSticky, backend.Weak},
		{DirNeeds{Removal: true}, 0o770 | os.ModeSetgid, backend.Fit},
	} {
		if err := os.Chmod(dir, c.mode); err != nil {
			t.Fatal(err)
		}
		all := found(func(tell backend.Tell) { c.n.Examine(dir, tell) })
		if got := all["directory"]; got.Finding != c.want {
			t.Errorf("%+v in a directory with mode %v is %+v, want %v", c.n, c.mode, got, c.want)
		}
		if all["space"].Name == "" || all["file system"].Finding == backend.Unknown && all["file system"].Advice == "" {
			t.Errorf("the findings are %+v", all)
		}
	}
	for _, name := range []string{filepath.Join(dir, "none"), "/dev/null"} {
		all := found(func(tell backend.Tell) { DirNeeds{}.Examine(name, tell) })
		if len(all) != 1 || all["directory"].Finding != backend.Unfit {
			t.Errorf("the findings of %s are %+v", name, all)
		}
	}
}

func TestRooms(t *testing.T) {
	for _, c := range []struct {
		r    room
		want backend.Finding
	}{
		{room{bytes: 1 << 30, inodes: 1 << 20, counted: true}, backend.Fit},
		{room{bytes: 1 << 30}, backend.Fit},
		{room{bytes: 1 << 20}, backend.Weak},
		{room{bytes: 1 << 30, inodes: 10, counted: true}, backend.Weak},
		{room{bytes: 1 << 30, counted: true}, backend.Unfit},
		{room{}, backend.Unfit},
	} {
		all := found(c.r.judge)
		if all["space"].Finding != c.want {
			t.Errorf("room %+v is %+v, want %v", c.r, all, c.want)
		}
	}
}

// TestCleaning: places from which old files go are weak, with the way to keep them; others are not
// spoken of.
func TestCleaning(t *testing.T) {
	for dir, want := range map[string]string{
		"/tmp": "x /tmp", "/tmp/locks": "x /tmp/locks", "/var/tmp/locks": "x /var/tmp/locks", "/net/scratch/locks": "/net/scratch/locks",
		"/srv/locks": "", "/tmpfs/locks": "", "/srv/scratchpad": "", "/srv/tmp": "",
	} {
		var found []backend.Check
		cleaning(dir, func(c backend.Check) { found = append(found, c) })
		if weak := len(found) == 1 && found[0].Finding == backend.Weak && strings.HasSuffix(found[0].Advice, want); weak != (want != "") || len(found) > 1 {
			t.Errorf("%s: %+v", dir, found)
		}
	}
}
