package doctor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"locksmith/backends/posix"
)

// mountOf finds the mount of a directory by its number (statx(2), since Linux 5.8), or else by
// its path.
func mountOf(dir string) (mount, error) {
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return mount{}, err
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return mount{}, err
	}
	return findMount(string(table), mountNumber(real), real)
}

func mountNumber(dir string) uint64 {
	var st unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, dir, 0, unix.STATX_MNT_ID, &st)
	if err != nil || st.Mask&unix.STATX_MNT_ID == 0 {
		return 0
	}
	return st.Mnt_id
}

// findMount reads a table of mounts (proc_pid_mountinfo(5)). Of mounts with the same path the
// last one hides the others.
func findMount(table string, number uint64, dir string) (mount, error) {
	var best mount
	for line := range strings.SplitSeq(table, "\n") {
		n, m, ok := parseMount(line)
		switch {
		case !ok:
		case number != 0 && n == number:
			return m, nil
		case number == 0 && within(dir, m.point) && len(m.point) >= len(best.point):
			best = m
		}
	}
	if best.point == "" {
		return best, errors.New("no mount is known for " + dir)
	}
	return best, nil
}

func within(dir, point string) bool {
	return dir == point || strings.HasPrefix(dir, strings.TrimSuffix(point, "/")+"/")
}

// parseMount reads a line as in "36 35 98:0 /root /mnt rw,noatime shared:1 - ext4
// /dev/sda rw,errors=continue".
func parseMount(line string) (number uint64, m mount, ok bool) {
	left, right, found := strings.Cut(line, " - ")
	place, system := strings.Fields(left), strings.Fields(right)
	if !found || len(place) < 6 || len(system) < 2 {
		return 0, mount{}, false
	}
	number, err := strconv.ParseUint(place[0], 10, 64)
	m = mount{point: unescape(place[4]), kind: system[0], source: unescape(system[1]), options: strings.Split(place[5], ",")}
	if len(system) > 2 {
		for o := range strings.SplitSeq(system[2], ",") {
			if o != "rw" && !m.has(o) { // that the system may be written says nothing beside the mount
				m.options = append(m.options, o)
			}
		}
	}
	return number, m, err == nil
}

// unescape undoes "\040" for a space and the like.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if c, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(c))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// Remote names the type of the file system of a directory if several machines may use it at
// once; "" if it is this machine's own, as far as is known.
func Remote(dir string) (string, error) {
	var st unix.Statfs_t
	if err := posix.RetryEINTR(func() error { return unix.Statfs(dir, &st) }); err != nil {
		return "", err
	}
	return remoteName(int64(st.Type)), nil
}

func roomIn(dir string) (room, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return room{}, fmt.Errorf("statfs %s: %w", dir, err)
	}
	if st.Blocks == 0 {
		return room{}, errors.New("the file system of " + dir + " does not tell its size")
	}
	return room{bytes: st.Bavail * uint64(st.Frsize), inodes: st.Ffree, counted: st.Files > 0}, nil
}
