package doctor

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"locksmith/backends/backend"
	"locksmith/backends/lockfile"
	"locksmith/protocol"
)

// DirNeeds are what a kind of lock asks of its directory.
type DirNeeds struct {
	// Kernel: this machine's kernel must know all the locks.
	Kernel bool
	// Hosts: the lock is for several hosts, which must all see the directory.
	Hosts bool
	// Removal: others than the owner must be able to remove what is in the directory, to break
	// the lock of a dead owner.
	Removal bool
	// Links: a symbolic link must be made at once with what it says.
	Links bool
	// Numbers: a file must have the same number whatever its name.
	Numbers bool
	// Anybody and Anywhere: the user accepts a directory that everybody may write,
	// and any file system.
	Anybody, Anywhere bool
}

// Examine tells of the file system of a directory, and reports whether nothing of that is unfit. It
// has no error: it tells what it cannot find out.
func (n DirNeeds) Examine(dir string, to backend.Tell) (fit bool) {
	fit = true
	tell := backend.Tell(func(c backend.Check) {
		fit = fit && c.Finding != backend.Unfit
		to(c)
	})
	if !n.access(dir, tell) {
		return false
	}
	m, err := mountOf(dir)
	if err != nil {
		tell.Unknown("file system", err.Error(), "look at the mount options yourself: nfs mounts should be hard, which they are by default")
	} else {
		n.mount(m, tell)
	}
	cleaning(dir, tell)
	space(dir, tell)
	n.System(tell)
	return fit
}

// A mount is a line of /proc/self/mountinfo.
type mount struct {
	point, kind, source string
	options             []string // of the mount, and of the file system
}

func (m mount) has(options ...string) bool {
	return slices.ContainsFunc(options, func(o string) bool { return slices.Contains(m.options, o) })
}

func (m mount) nfs() bool { return m.kind == "nfs" || m.kind == "nfs4" }

func (m mount) smb() bool { return m.kind == "cifs" || m.kind == "smb3" }

// fakesLinks reports whether symbolic links are files that an SMB client makes first, and fills
// later (mount.cifs(8)).
func (m mount) fakesLinks() bool { return m.has("mfsymlinks", "sfu") }

// isLoose reports whether a 9p client does not look for other hosts' changes. The kernel shows
// its caches as words, or as bits.
func (m mount) isLoose() bool {
	return m.kind == "9p" && m.has("loose", "fscache", "cache=loose", "cache=f", "cache=8f")
}

// distrust says why links on the mount do not show who has a lock, and what to do.
func (m mount) distrust() (why, advice string) {
	switch {
	case m.fakesLinks():
		return "symbolic links there are files that are made empty and filled later: one whose maker dies in between blocks the lock for good",
			"use mkdir: instead of nfs:, best with ?style=dir"
	case m.isLoose():
		return "it does not see what other hosts have changed: two would hold a lock, or nobody",
			"mount it with cache=none or cache=mmap, or use local: with ?fs=any if only this machine ever uses it"
	}
	return "", ""
}

// Distrust says why symbolic links in a directory do not show who has a lock, and what to do; ""
// if nothing is known against them.
func Distrust(dir string) (why, advice string) {
	m, err := mountOf(dir)
	if err != nil {
		return "", ""
	}
	if why, advice = m.distrust(); why != "" {
		why = m.String() + ": " + why
	}
	return why, advice
}

// onlyHere is the warning for a lock of several hosts on a local disk.
const onlyHere = "a local disk, only this machine sees it"

// Unshared says why only this machine might see a directory. It returns "" if the directory is on a network
// file system.
func Unshared(dir string) (why string, err error) {
	if kind, err := Remote(dir); err != nil || kind != "" {
		return "", err
	}
	switch m, err := mountOf(dir); {
	case err != nil: // its number is not that of a known one
		return "whether others than this machine see it is not known: " + err.Error(), nil
	case m.remote():
		return "", nil
	default:
		return m.String() + ": " + onlyHere, nil
	}
}

func (m mount) String() string {
	return protocol.CleanText(m.kind+" on "+m.point+" ("+strings.Join(m.options, ",")+")", 600)
}

func (n DirNeeds) mount(m mount, tell backend.Tell) {
	const name = "file system"
	why, advice := m.distrust()
	switch {
	case m.has("ro"):
		tell.Unfit(name, m.String()+" is read-only", "mount it read-write, or choose another place")
	case n.Kernel && m.remote() && n.Anywhere:
		tell.Weak(name, m.String()+": other machines may use it, whose kernels do not know our locks", "see that only this machine uses it")
	case n.Kernel && m.remote():
		tell.Unfit(name, m.String()+": other machines may use it, whose kernels do not know our locks",
			"use a directory on a disk of this machine, or say ?fs=any if only this machine ever uses it")
	case why != "" && (n.Links || m.isLoose()):
		tell.Unfit(name, m.String()+": "+why, advice)
	case n.Numbers && m.smb():
		tell.Unfit(name, m.String()+": its client gives up the server's file numbers (serverino) some time, and then no file has the same one under two names",
			"use mkdir: with ?style=dir")
	case m.nfs() && m.has("soft", "softerr"):
		tell.Weak(name, m.String()+" gives up requests of which nobody knows then whether they were carried out",
			"mount it hard, which is the default: with soft, holders may lose their lock to a slow server")
	case m.kind == "fuse.sshfs":
		tell.Unfit(name, m.String()+": it remembers for 20 s what other hosts have changed since: locks stay, or are not found",
			"let locksmith lock on that server itself: sftp://user@host/path")
	case m.kind == "fuse.glusterfs":
		tell.Unfit(name, m.String()+": of a directory that somebody renames while others remove what is there it may say that it was renamed when it was not, and its copies then hold different ones: locks are stuck",
			"put the lock on an NFS server, or let locksmith lock by sftp: on a disk of one server")
	case m.remote() && !m.nfs():
		tell.Unknown(name, m.String()+": what is behind it decides whether locks are safe between machines",
			"run locksmith doctor on all of them, and two contenders on two of them, before you rely on it")
	case m.kind == "overlay" || m.kind == "aufs":
		tell.Weak(name, m.String()+": what is made there is this container's own, and nobody in another one sees it",
			"put the lock on a volume that all who share it have in common; if this is no container, but a machine whose own files are on such a file system, this is as it should be")
	case n.Hosts && !m.remote():
		tell.Weak(name, m.String()+": "+onlyHere,
			"if a share belongs here, mount it first, and say ?fs=network, so that no lock is taken without it; for one machine, or on the share's own server, this is as it should be")
	default:
		tell.Fit(name, m.String())
	}
}

// access reports whether there is a directory, and tells who may write to it.
func (n DirNeeds) access(dir string, tell backend.Tell) bool {
	const name = "directory"
	st, err := os.Stat(dir)
	if err == nil && !st.IsDir() {
		err = fmt.Errorf("%s is not a directory", dir)
	}
	if err != nil {
		tell.Unfit(name, err.Error(), "make it, or correct the path")
		return false
	}
	mode, sticky := lsMode(st.Mode()), st.Mode()&fs.ModeSticky != 0
	public := lockfile.IsPublic(st.Mode())
	switch {
	case !mayWrite(dir):
		tell.Unfit(name, dir+" may not be written by this user ("+mode+")", "let this user write there, or choose another place")
	case public && n.Kernel && !n.Anybody:
		tell.Unfit(name, dir+" is world-writable without the sticky bit ("+mode+"): everybody may remove files there", "chmod +t it, or accept that with ?dir=any")
	case public:
		tell.Weak(name, dir+" is world-writable without the sticky bit ("+mode+"): everybody may remove locks there", "let a group write there, and put the users of the lock into it")
	case sticky && n.Removal:
		tell.Weak(name, dir+" has the sticky bit ("+mode+"): a dead holder's lock can only be removed by its own user",
			"if several users share locks there, let their group write to the directory instead: chmod 2770")
	default:
		tell.Fit(name, dir+" may be written by this user ("+mode+")")
	}
	return true
}

// Less free space than this counts as little. Locks need next to nothing, but other things grow.
const littleSpace, littleInodes = 16 << 20, 1000

// A room is what is free for this user.
type room struct {
	bytes, inodes uint64
	counted       bool // the number of inodes is known
}

func (r room) String() string {
	text := fmt.Sprintf("%d MiB free", r.bytes>>20)
	if r.counted {
		text += fmt.Sprintf(", and %d inodes", r.inodes)
	}
	return text
}

func (r room) judge(tell backend.Tell) {
	const name, advice = "space", "free some: a lock that cannot be written cannot be held"
	switch {
	case r.bytes == 0 || r.counted && r.inodes == 0:
		tell.Unfit(name, r.String(), advice)
	case r.bytes < littleSpace || r.counted && r.inodes < littleInodes:
		tell.Weak(name, r.String(), advice)
	default:
		tell.Fit(name, r.String())
	}
}

func space(dir string, tell backend.Tell) {
	r, err := roomIn(dir)
	if err != nil {
		tell.Unknown("space", err.Error(), "see that some is free")
		return
	}
	r.judge(tell)
}

// cleaning warns of a place from which what has not changed for days is removed: below /tmp and
// /var/tmp by systemd-tmpfiles or tmpreaper, in scratch directories by their administrators.
func cleaning(dir string, tell backend.Tell) {
	const name, risk = "cleaning", ": what has not changed for days may be removed there; fencing tokens, if the lock has any, then begin at 1 again"
	switch {
	case isBelow(dir, "/tmp"), isBelow(dir, "/var/tmp"):
		tell.Weak(name, dir+" is temporary"+risk, "choose another place, or keep it by a line in a file below /etc/tmpfiles.d: x "+dir)
	case slices.Contains(strings.Split(filepath.Clean(dir), "/"), "scratch"):
		tell.Weak(name, dir+" looks like scratch space"+risk, "choose another place, or ask who cleans it to leave out "+dir)
	}
}

func isBelow(dir, place string) bool { return dir == place || strings.HasPrefix(dir, place+"/") }

// lsMode is a directory's mode as ls(1) shows it.
func lsMode(m fs.FileMode) string {
	text := []byte("d" + m.Perm().String()[1:])
	for _, special := range []struct {
		bit       fs.FileMode
		at        int
		set, bare byte // with and without the right to enter
	}{{fs.ModeSetuid, 3, 's', 'S'}, {fs.ModeSetgid, 6, 's', 'S'}, {fs.ModeSticky, 9, 't', 'T'}} {
		switch {
		case m&special.bit == 0:
		case text[special.at] == 'x':
			text[special.at] = special.set
		default:
			text[special.at] = special.bare
		}
	}
	return string(text)
}
