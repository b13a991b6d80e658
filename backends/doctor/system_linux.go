package doctor

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"locksmith/backends/backend"
	"locksmith/backends/posix"
)

// A facility is what the kernel offers, and what is weaker if that is missing or refused.
type facility struct {
	name   string
	since  string // the oldest kernel that has it
	weaker string
	bad    func(DirNeeds) bool // reports whether locks are impossible without it
	probe  func() error
}

func facilities() []facility {
	never := func(DirNeeds) bool { return false }
	return []facility{
		{"statx", "4.11", "what other hosts wrote is not seen in time, so that link: and nfs: refuse to lock; local: and mkdir: do without",
			func(n DirNeeds) bool { return n.Links || n.Numbers },
			func() error {
				var st unix.Statx_t
				return posix.Statx(unix.AT_FDCWD, "/", 0, unix.STATX_MTIME, &st)
			}},
		{"pidfd_open", "5.3", "the end of a parent, and of a holder on this machine, is noticed by looking, later",
			never,
			func() error {
				fd, err := unix.PidfdOpen(os.Getpid(), 0)
				if err == nil {
					_ = unix.Close(fd)
				}
				return err
			}},
		{"openat2", "5.12", "status shows the interpreter of a script as the program, not the script",
			never,
			func() error {
				const resolveCached = 0x20 // as new as the system call; the root is always cached
				fd, err := unix.Openat2(unix.AT_FDCWD, "/", &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: resolveCached})
				if err == nil {
					_ = unix.Close(fd)
				}
				return err
			}},
		{"/proc", "any", "no holder is proven dead, so that each is broken only when its lease is over, and nothing tells of waiters and mounts",
			never,
			func() error {
				_, err := os.ReadFile("/proc/self/stat")
				return err
			}},
	}
}

// System tells what the kernel lacks, and what is weaker without it.
func (n DirNeeds) System(tell backend.Tell) {
	const name = "kernel"
	const advice = "allow it in the seccomp profile of this container, or use a newer kernel: it is there since Linux "
	for _, f := range facilities() {
		err := f.probe()
		switch text := fmt.Sprintf("no %s (%v): %s", f.name, err, f.weaker); {
		case err == nil:
		case f.name == "/proc":
			tell.Weak(name, text, "mount /proc")
		case f.bad(n):
			tell.Unfit(name, text, advice+f.since)
		default:
			tell.Weak(name, text, advice+f.since)
		}
	}
}
