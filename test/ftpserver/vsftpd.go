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
anonymous_enable=YES
local_enable=NO
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
max_per_ip=%d
`

const vsftpdTLS = `
ssl_enable=YES
rsa_cert_file=%s
allow_anon_ssl=YES
force_anon_logins_ssl=YES
force_anon_data_ssl=YES
require_ssl_reuse=YES
ssl_tlsv1=YES
ssl_ciphers=HIGH
`

// vsftpd serves anonymous users only: local ones need PAM. It refuses an
// anonymous root that they can write, so home is below.
func vsftpd(s *Server, place *site) (daemon, error) {
	s.User, s.Password, s.Home, s.Dir = "anonymous", "", "/pub", filepath.Join(place.root, "pub")
	empty := filepath.Join(place.work, "empty")
	if err := os.Mkdir(empty, 0o755); err != nil {
		return nil, err
	}
	if err := os.Chown(place.root, 0, 0); err != nil {
		return nil, err
	}
	if err := makeOwned(s.Dir, vsftpdUser); err != nil {
		return nil, err
	}
	var conf strings.Builder
	fmt.Fprintf(&conf, vsftpdConfig, place.port, vsftpdUser, place.root,
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
	return newProcess(place, filepath.Join(place.programs, "usr/sbin/vsftpd"), config), nil
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
