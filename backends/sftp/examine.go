//go:build unix

package sftp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"locksmith/backends/backend"
	"locksmith/backends/doctor"
	"locksmith/backends/generation/symlinks"
	"locksmith/backends/mkdirlock/dirs"
	"locksmith/backends/owner"
	"locksmith/protocol"
)

// Examine implements backend.Backend.
func (l *lock) Examine(ctx context.Context, _ backend.Examination, tell backend.Tell) error {
	u := l.use(0)
	defer u.close()
	base, err := u.check(ctx)
	if err == nil {
		err = u.dir.probe(ctx, base)
	}
	switch code := backend.CodeOf(err); {
	case err == nil:
	case code == protocol.CannotCreate, code == protocol.Permission:
		tell.Refusal("lock directory", err)
		return nil
	default:
		return err
	}
	if base == symlinks.Reservations {
		base = "."
	}
	dir := newSymlinkDir(u.dir.below(base), false)
	if err := symlinks.Examine(ctx, dir, dir.shown("."), tell, dir.failed); err != nil {
		return err
	}
	if err := dir.examineRemoval(ctx, tell); err != nil {
		return err
	}
	return dir.examineCrowd(ctx, tell, "made the same symbolic link", func(s *session, name string) error {
		return s.symlink(ctx, "nowhere", name)
	}, func(name string) error { return dir.unlink(ctx, name) })
}

// examineRemoval: whoever removes a lock bars others with a symbolic link, which no rmdir may
// remove.
func (d *symlinkDir) examineRemoval(ctx context.Context, tell backend.Tell) error {
	const name = "remove locks"
	removed, err := d.removesLinks(ctx, ".doctor."+owner.NewID())
	switch {
	case err != nil:
		return err
	case removed:
		tell.Weak(name, "symbolic links are removed as if they were directories: so locksmith remove is refused here", "remove locks on the server's own disk")
	default:
		tell.Fit(name, "a symbolic link is not removed as a directory")
	}
	return nil
}

// crowd is how many come at the same time, crowdRounds how often they race.
const crowd, crowdRounds = 32, 5

// examineCrowd finds out how many connections the server takes at once. It also checks that of
// all that make the same name, each over its own connection, one is told that it did. Of the
// server's limits only MaxStartups matters, because each connection has one session
// (MaxSessions).
func (s *session) examineCrowd(ctx context.Context, tell backend.Tell, did string, try func(*session, string) error, remove func(string) error) error {
	where, err := s.realpath(ctx)
	if err != nil {
		return err
	}
	where = "the log in leads to " + where
	all, refused := s.dialAll(ctx)
	defer func() {
		for _, one := range all {
			one.close()
		}
	}()
	const connections, race = "connections", "many make the same"
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case refused != nil:
		tell.Weak(connections, fmt.Sprintf("of %d that came at once the server took %d: %s; %s", crowd, len(all), backend.Reason(refused), where),
			"raise MaxStartups in its sshd_config, as in MaxStartups 200; till then locksmith tries again")
	default:
		tell.Fit(connections, fmt.Sprintf("the server took %d that came at once; %s", crowd, where))
	}
	if len(all) < 2 {
		tell.Unknown(race, "the server did not take two connections", "try again when it is less busy")
		return nil
	}
	for round := range crowdRounds {
		winners, err := s.raceAll(all, try, remove)
		switch {
		case err != nil:
			return err
		case winners != 1:
			tell.Unfit(race, fmt.Sprintf("in round %d, %d of %d who %s at the same time were told that they did", round+1, winners, len(all), did),
				"choose another server: locks are not safe there")
			return nil
		}
	}
	tell.Fit(race, fmt.Sprintf("of %d connections at the same time one %s, in each of %d rounds", len(all), did, crowdRounds))
	return nil
}

// dialAll makes many connections at once. It returns those that came about, and why another did
// not. It tries none again.
func (s *session) dialAll(ctx context.Context) (all []*session, refused error) {
	var mu sync.Mutex
	var done sync.WaitGroup
	for range crowd {
		done.Go(func() {
			c, err := s.server.dialOnce(ctx)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				refused = err
				return
			}
			one := s.server.newSession(s.root)
			one.conn = c
			all = append(all, one)
		})
	}
	done.Wait()
	return all, refused
}

// raceAll lets all make one name at the same time, and removes the name with remove.
func (s *session) raceAll(all []*session, try func(*session, string) error, remove func(string) error) (winners int, err error) {
	name := ".doctor." + owner.NewID()
	for _, outcome := range doctor.Together(len(all), func(i int) error { return try(all[i], name) }) {
		switch {
		case outcome == nil:
			winners++
		case errors.As(outcome, new(*backend.Error)):
			err = outcome // the server did not answer
		}
	}
	removed := remove(name)
	if winners == 0 {
		removed = nil
	}
	return winners, cmp.Or(err, removed)
}

var _ dirs.Examiner = (*mkdirDir)(nil)

// Examine implements dirs.Examiner.
func (t *mkdirDir) Examine(ctx context.Context, name string, _ backend.Examination, tell backend.Tell) (rest func() error, err error) {
	c, err := t.connected(ctx)
	if err != nil {
		return nil, err
	}
	if !c.knows(posixRename) {
		tell.Unfit("rename", "the server does not know "+posixRename+", without which none of these locks can be taken",
			"leave out ?style=, or use another server")
		return nil, nil
	}
	s := t.below(name)
	return func() error {
		return s.examineCrowd(ctx, tell, "made the same directory", func(one *session, name string) error { return one.mkdir(ctx, name) },
			func(name string) error { return s.rmdir(ctx, name) })
	}, nil
}
