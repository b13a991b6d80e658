package ftpserver

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
)

// pureftpd has an account of its own database.
func pureftpd(_ *Server, place *site) (daemon, error) {
	// Not with pure-pw useradd: what it makes of a password takes seconds to check.
	home := place.root
	if !place.Unconfined {
		home += "/./" // what is above is out of reach
	}
	users, err := place.write("users", fmt.Sprintf("%s:%s:%d:%d::%s::::::::::::\n", account, crypted, uid, gid, home))
	if err != nil {
		return nil, err
	}
	database := filepath.Join(place.work, "users.pdb")
	mkdb := exec.Command(filepath.Join(place.programs, "usr/bin/pure-pw"), "mkdb", database, "-f", users)
	mkdb.Env = place.environment()
	if out, err := mkdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("pure-pw mkdb: %w: %s", err, out)
	}
	argv := []string{
		filepath.Join(place.programs, "usr/sbin/pure-ftpd"),
		"-S", "127.0.0.1," + strconv.Itoa(place.port), "-4", "-H", // no name lookups
		"-E", // no anonymous users
		"-l", "puredb:" + database, "-U", "133:022", "-u", "1000",
		"-g", filepath.Join(place.work, "pid"),
	}
	if !place.Unconfined {
		argv = append(argv, "-A")
	}
	if place.TLS {
		argv = append(argv, "-Y", "3", "-2", place.both)
	}
	if place.MaxConns > 0 {
		argv = append(argv, "-C", strconv.Itoa(place.MaxConns))
	}
	if place.Idle > 0 {
		argv = append(argv, "-I", strconv.Itoa(int(place.Idle.Minutes())))
	}
	return newProcess(place, argv...), nil
}
