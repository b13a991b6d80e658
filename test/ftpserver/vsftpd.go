package ftpserver

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
)

// vsftpdUser is whom anonymous sessions run as. vsftpd wants a name that the
// machine knows, and refuses nobody.
const vsftpdUser = "daemon"

const vsftpdConfig = `
listen=YES
listen_ipv6=NO
listen_address=127.0.0.1
listen_port=%d
background=NO
anonymous_enable=%s
local_enable=%s
no_anon_password=YES
ftp_username=%s
anon_root=%s
write_enable=YES
anon_upload_enable=YES
anon_mkdir_write_enable=YES
anon_other_write_enable=%s
anon_umask=022
anon_world_readable_only=NO
secure_chroot_dir=%s
seccomp_sandbox=NO
pasv_address=127.0.0.1
xferlog_enable=NO
local_umask=022
pam_service_name=vsftpd
max_per_ip=%d
`

const vsftpdTLS = `
ssl_enable=YES
rsa_cert_file=%s
allow_anon_ssl=YES
force_anon_logins_ssl=YES
force_anon_data_ssl=YES
force_local_logins_ssl=YES
force_local_data_ssl=YES
require_ssl_reuse=YES
ssl_tlsv1=YES
ssl_ciphers=HIGH
`

// vsftpd serves anonymous users, which it confines, or else the account.
func vsftpd(s *Server, place *site) (daemon, error) {
	empty := filepath.Join(place.work, "empty")
	if err := os.Mkdir(empty, 0o755); err != nil {
		return nil, err
	}
	anonymous, local := "YES", "NO"
	if place.Unconfined {
		anonymous, local = local, anonymous
	} else if err := s.openToAnonymous(place); err != nil {
		return nil, err
	}
	var conf strings.Builder
	fmt.Fprintf(&conf, vsftpdConfig, place.port, anonymous, local, vsftpdUser, place.root,
		map[bool]string{true: "NO", false: "YES"}[place.NoRmdir], empty, place.MaxConns)
	if place.Idle > 0 {
		fmt.Fprintf(&conf, "idle_session_timeout=%.0f\n", place.Idle.Seconds())
	}
	if place.TLS {
		fmt.Fprintf(&conf, vsftpdTLS, place.both)
	}
	config, err := place.write("vsftpd.conf", conf.String())
	if err != nil {
		return nil, err
	}
	p := newProcess(place, filepath.Join(place.programs, "usr/sbin/vsftpd"), config)
	if place.Unconfined { // its account is one of the machine, for PAM
		etc, err := place.writeEtc(map[string]string{"pam.d/vsftpd": "auth required pam_unix.so\naccount required pam_unix.so\n"})
		if err != nil {
			return nil, err
		}
		p.script, p.argv = inOtherEtc, append([]string{etc}, p.argv...)
	}
	return p, nil
}

// openToAnonymous makes a home below the root, for vsftpd refuses an anonymous root
// that its users may write.
func (s *Server) openToAnonymous(place *site) error {
	s.User, s.Password, s.Home, s.Dir = "anonymous", "", "/pub", filepath.Join(place.root, "pub")
	if err := os.Chown(place.root, 0, 0); err != nil {
		return err
	}
	return makeOwned(s.Dir, vsftpdUser)
}

// makeOwned makes a directory that belongs to a user of this machine.
func makeOwned(dir, name string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	who, err := user.Lookup(name)
	if err != nil {
		return err
	}
	id, err := strconv.Atoi(who.Uid)
	if err != nil {
		return err
	}
	return os.Chown(dir, id, -1)
}
