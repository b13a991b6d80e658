//go:build unix

package sftp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"locksmith/backends/servers"
	"locksmith/protocol"
)

// A refusal is a *statusError with the system's error that it most likely stands for. A code of the
// protocol may have many meanings. So the method that was refused looks which names are there.
type refusal struct {
	op    string
	errno syscall.Errno
	said  *statusError
}

func (e *refusal) Error() string {
	return fmt.Sprintf("%s: %v (%v)", e.op, e.errno, e.said)
}

func (e *refusal) Unwrap() error { return e.errno }

// A request makes, renames or removes a directory, a symbolic link or a file (change).
type request struct {
	op      string
	build   func(packet) packet
	kind    byte
	explain func(ctx context.Context, code uint32) (syscall.Errno, error) // what a vague code means; 0: unknown
}

// change makes a request. If nothing explains a refusal, its cause may be gone by now. Then change
// makes the request once more.
func (s *session) change(ctx context.Context, r request) error {
	for repeated := false; ; repeated = true {
		err := s.request(ctx, r.op, r.kind, r.build)
		var said *statusError
		if !errors.As(err, &said) {
			return err
		}
		var errno syscall.Errno
		switch said.code {
		case statusDenied:
			errno = syscall.EACCES
		case statusNoSupport:
			errno = syscall.EOPNOTSUPP
		default:
			if errno, err = r.explain(ctx, said.code); err != nil {
				return err
			}
		}
		if errno != 0 || repeated {
			if errno == 0 {
				errno = syscall.ENOSPC // a guess: it may also be a quota, or a disk that is read-only
			}
			return &refusal{r.op, errno, said}
		}
	}
}

// kindOf returns the type of the file that has a name, such as modeDir. It is 0 only if there is no
// such file.
func (s *session) kindOf(ctx context.Context, name string) (kind uint32, err error) {
	a, err := s.lstat(ctx, name)
	var said *statusError
	switch {
	case errors.As(err, &said) && said.code == statusNoFile:
		return 0, nil
	case errors.As(err, &said):
		return 0, s.asRefusal(s.op("look at", name), err)
	case err != nil:
		return 0, err
	}
	if a.flags&hasMode == 0 {
		return modeFile, nil // the server does not tell
	}
	return max(a.mode&modeType, 1), nil // not 0: there is a file
}

// asRefusal makes a refusal of a *statusError, by its code alone. It returns other errors as they
// are.
func (s *session) asRefusal(op string, err error) error {
	var said *statusError
	if !errors.As(err, &said) {
		return err
	}
	errno := syscall.EIO
	switch said.code {
	case statusNoFile:
		errno = syscall.ENOENT
	case statusDenied:
		errno = syscall.EACCES
	case statusNoSupport:
		errno = syscall.EOPNOTSUPP
	}
	return &refusal{op, errno, said}
}

// op describes an operation to people.
func (s *session) op(what, name string) string { return what + " " + s.shown(name) }

// shown describes a name to people.
func (s *session) shown(name string) string { return servers.ShortPath(s.at(name)) }

// whyNotMade explains why a name could not be made: the name is there already, or the directory
// above it is not there.
func (s *session) whyNotMade(name string) func(context.Context, uint32) (syscall.Errno, error) {
	return func(ctx context.Context, code uint32) (syscall.Errno, error) {
		if code == statusNoFile {
			return syscall.ENOENT, nil
		}
		kind, err := s.kindOf(ctx, name)
		if kind != 0 || err != nil {
			return syscall.EEXIST, err
		}
		above := "."
		if i := strings.LastIndexByte(name, '/'); i >= 0 {
			above = name[:i]
		}
		if kind, err = s.kindOf(ctx, above); kind == 0 || err != nil {
			return syscall.ENOENT, err
		}
		return 0, nil
	}
}

// mkdir makes a directory.
func (s *session) mkdir(ctx context.Context, name string) error {
	return s.change(ctx, request{op: s.op("make directory", name), kind: typeMkdir, explain: s.whyNotMade(name),
		build: func(p packet) packet { return p.string(s.at(name)).attrs(attrs{flags: hasMode, mode: 0o777}) }})
}

// symlink makes a symbolic link. OpenSSH takes target before name; the draft has the other order.
func (s *session) symlink(ctx context.Context, target, name string) error {
	explain := s.whyNotMade(name)
	return s.change(ctx, request{op: s.op("make symbolic link", name), kind: typeSymlink,
		build: func(p packet) packet { return p.string(target).string(s.at(name)) },
		explain: func(ctx context.Context, code uint32) (syscall.Errno, error) {
			errno, err := explain(ctx, code)
			if errno == 0 && err == nil && code == statusBad {
				errno = syscall.ENAMETOOLONG
			}
			return errno, err
		}})
}

// rmdir removes an empty directory. Some servers also remove a symbolic link, or what the link leads
// to. Before a lock is removed, checkRemoval finds out whether this one removes links.
func (s *session) rmdir(ctx context.Context, name string) error {
	return s.change(ctx, request{op: s.op("remove directory", name), kind: typeRmdir,
		build: func(p packet) packet { return p.string(s.at(name)) },
		explain: func(ctx context.Context, code uint32) (syscall.Errno, error) {
			kind, err := s.kindOf(ctx, name)
			switch {
			case err != nil:
				return 0, err
			case kind == 0, kind == modeDir && code == statusNoFile:
				return syscall.ENOENT, nil // it was not there when the server looked
			case kind != modeDir:
				return syscall.ENOTDIR, nil
			}
			inside, err := s.list(ctx, name)
			switch {
			case errors.Is(err, syscall.ENOENT):
				return syscall.ENOENT, nil
			case err != nil || len(inside) > 0:
				return syscall.ENOTEMPTY, err
			}
			return 0, nil
		}})
}

// unlink removes a symbolic link or a file.
func (s *session) unlink(ctx context.Context, name string) error {
	return s.change(ctx, request{op: s.op("remove", name), kind: typeRemove,
		build: func(p packet) packet { return p.string(s.at(name)) },
		explain: func(ctx context.Context, _ uint32) (syscall.Errno, error) {
			kind, err := s.kindOf(ctx, name)
			switch {
			case err != nil:
				return 0, err
			case kind == 0:
				return syscall.ENOENT, nil
			case kind == modeDir:
				return syscall.EISDIR, nil
			}
			return syscall.EPERM, nil // it is there, and we may not remove it
		}})
}

// posixRename is the extension with the meaning of rename(2) (OpenSSH's PROTOCOL, 4.3).
const posixRename = "posix-rename@openssh.com"

// rename renames a directory. If the server knows posixRename, an empty directory with the new name
// is replaced. Otherwise the new name must be free.
func (s *session) rename(ctx context.Context, from, to string) error {
	c, err := s.connected(ctx)
	if err != nil {
		return err
	}
	packetType := byte(typeRename)
	build := func(p packet) packet { return p.string(s.at(from)).string(s.at(to)) }
	if c.knows(posixRename) {
		packetType = typeExtended
		build = func(p packet) packet { return p.string(posixRename).string(s.at(from)).string(s.at(to)) }
	}
	return s.change(ctx, request{op: s.op("rename", from) + " to " + s.shown(to), kind: packetType, build: build,
		explain: func(ctx context.Context, code uint32) (syscall.Errno, error) {
			kind, err := s.kindOf(ctx, from)
			if err != nil || kind == 0 || code == statusNoFile {
				return syscall.ENOENT, err
			}
			kind, err = s.kindOf(ctx, to)
			if err != nil || kind == 0 {
				return 0, err
			}
			return syscall.ENOTEMPTY, nil
		}})
}

// setTime sets the time of a name's last change, in seconds since 1970. If see is true, it is the
// first time for that name. Then setTime also looks at the name, in the same round trip, so that the
// caller can check the time. The server may look before it sets. So if it shows another time, the
// caller looks again.
func (s *session) setTime(ctx context.Context, name string, seconds uint32, see bool) (seen attrs, err error) {
	op := s.op("set the time of", name)
	err = s.do(ctx, op, changes, func(c *conn) error {
		set, err := c.start(s.answer, typeSetstat, func(p packet) packet {
			return p.string(s.at(name)).attrs(attrs{flags: hasTimes, modified: seconds})
		})
		if err != nil {
			return err
		}
		if !see {
			return set.status()
		}
		look, err := c.start(s.answer, typeLstat, func(p packet) packet { return p.string(s.at(name)) })
		if refused := set.status(); refused != nil || err != nil {
			return errors.Join(refused, err)
		}
		seen, err = look.attrs()
		return err
	})
	var said *statusError
	if !errors.As(err, &said) {
		return seen, err
	}
	kind, lookErr := s.kindOf(ctx, name)
	switch {
	case lookErr != nil:
		return seen, lookErr
	case kind == 0:
		return seen, &refusal{op, syscall.ENOENT, said}
	case said.code == statusNoSupport:
		return seen, &refusal{op, syscall.EOPNOTSUPP, said}
	case said.code == statusFailure && !see: // it could be done before: its disk has a fault, or is away
		return seen, &refusal{op, syscall.EIO, said}
	}
	return seen, &refusal{op, syscall.EPERM, said} // somebody else owns it
}

// oneName sends a request about a path (of), and returns the one name in the answer.
func (s *session) oneName(ctx context.Context, op string, kind byte, of string) (name string, err error) {
	err = s.do(ctx, op, reads, func(c *conn) error {
		r, err := c.start(s.answer, kind, func(p packet) packet { return p.string(of) })
		if err != nil {
			return err
		}
		all, _, err := r.names()
		if err == nil && len(all) != 1 {
			err = r.malformed()
		}
		if err == nil {
			name = all[0].name
		}
		return err
	})
	return name, err
}

// realpath returns the directory to which the log in leads, for people.
func (s *session) realpath(ctx context.Context) (string, error) {
	const op = "ask where the log in leads"
	name, err := s.oneName(ctx, op, typeRealpath, ".")
	return protocol.CleanText(name, servers.MaxSaid), s.asRefusal(op, err)
}

// readlink returns the text of a symbolic link.
func (s *session) readlink(ctx context.Context, name string) (target string, err error) {
	op := s.op("read symbolic link", name)
	target, err = s.oneName(ctx, op, typeReadlink, s.at(name))
	var said *statusError
	if !errors.As(err, &said) || said.code == statusNoFile || said.code == statusDenied {
		return target, s.asRefusal(op, err)
	}
	kind, lookErr := s.kindOf(ctx, name)
	switch {
	case lookErr != nil:
		return "", lookErr
	case kind == 0:
		return "", &refusal{op, syscall.ENOENT, said}
	case kind != modeLink:
		return "", &refusal{op, syscall.EINVAL, said}
	}
	return "", s.asRefusal(op, err)
}
