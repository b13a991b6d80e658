package ftpserver

import (
	_ "embed" // the server
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"

	"locksmith/test/lab"
)

// vsftpdUser is the user as whom anonymous sessions run. vsftpd wants a name that the machine
// knows, and refuses the user "nobody", whose home does not exist.
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
pasv_min_port=%d
pasv_max_port=%d
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

// vsftpd serves anonymous users, which it confines to their home; if Unconfined, it serves the
// account instead.
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
		map[bool]string{true: "NO", false: "YES"}[place.NoRmdir], empty, lowestPassive, highestPassive, place.MaxConns)
	if place.Idle > 0 {
		fmt.Fprintf(&conf, "idle_session_timeout=%.0f\n", place.Idle.Seconds())
	}
	if place.TLS {
		fmt.Fprintf(&conf, vsftpdTLS, place.both)
		if place.Implicit {
			conf.WriteString("implicit_ssl=YES\n")
		}
	}
	config, err := place.write("vsftpd.conf", conf.String())
	if err != nil {
		return nil, err
	}
	p := newProcess(place, filepath.Join(place.programs, "usr/sbin/vsftpd"), config)
	if place.Unconfined { // its account must exist on the machine, for PAM
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

// ProFTPDConfig is the configuration that every ProFTPD of the tests gets, whichever modules it
// has.
const ProFTPDConfig = `
ServerName test
ServerType standalone
UseIPv6 off
UseReverseDNS off
DefaultAddress 127.0.0.1
SocketBindTight on
User nobody
Group nogroup
AuthOrder mod_auth_file.c
RequireValidShell off
Umask 022
DelayTable none
TransferLog none
WtmpLog off
MaxInstances 100
`

const proftpdTLS = `
TLSEngine on
TLSRequired on
TLSRSACertificateFile %[1]s
TLSRSACertificateKeyFile %[1]s
TLSProtocol %[2]s
`

// proftpd keeps its accounts in files of its own.
func proftpd(_ *Server, place *site) (daemon, error) {
	users, err := place.write("passwd", fmt.Sprintf("%s:%s:%d:%d::%s:/bin/sh\n", account, crypted, uid, gid, place.root))
	if err != nil {
		return nil, err
	}
	groups, err := place.write("group", fmt.Sprintf("%s:x:%d:\n", account, gid))
	if err != nil {
		return nil, err
	}
	var conf strings.Builder
	if place.TLS { // modules come before the directives that they understand
		fmt.Fprintf(&conf, "ModulePath %s\nLoadModule mod_tls.c\n", filepath.Join(place.programs, "usr/lib/proftpd"))
	}
	conf.WriteString(ProFTPDConfig)
	fmt.Fprintf(&conf, "PassivePorts %d %d\n", lowestPassive, highestPassive)
	fmt.Fprintf(&conf, "Port %d\nAuthUserFile %s\nAuthGroupFile %s\n", place.port, users, groups)
	for directive, name := range map[string]string{"PidFile": "pid", "ScoreboardFile": "board", "SystemLog": "log"} {
		fmt.Fprintf(&conf, "%s %s\n", directive, filepath.Join(place.work, name))
	}
	place.proftpdOptions(&conf)
	config, err := place.write("proftpd.conf", conf.String())
	if err != nil {
		return nil, err
	}
	return newProcess(place, filepath.Join(place.programs, "usr/sbin/proftpd"), "-n", "-q", "-c", config), nil
}

func (s *site) proftpdOptions(conf *strings.Builder) {
	overwrite := "on"
	if s.NoOverwrite {
		overwrite = "off"
	}
	fmt.Fprintf(conf, "AllowOverwrite %s\n", overwrite)
	if !s.Unconfined {
		conf.WriteString("DefaultRoot ~\n")
	}
	if s.TLS {
		versions := "TLSv1.2 TLSv1.3"
		if s.TLS12 { // set here, not by environment: with both it would offer session tickets
			versions = "TLSv1.2"
		}
		fmt.Fprintf(conf, proftpdTLS, s.both, versions)
		if s.Implicit {
			conf.WriteString("TLSOptions UseImplicitSSL\n")
		}
	}
	if s.MaxConns > 0 {
		fmt.Fprintf(conf, "MaxClientsPerHost %d\n", s.MaxConns)
	}
	if s.Idle > 0 {
		fmt.Fprintf(conf, "TimeoutIdle %.0f\n", s.Idle.Seconds())
	}
	if s.NoTransfer > 0 {
		fmt.Fprintf(conf, "TimeoutNoTransfer %.0f\n", s.NoTransfer.Seconds())
	}
	if s.NoRmdir {
		conf.WriteString("<Limit RMD XRMD>\nDenyAll\n</Limit>\n")
	}
	if s.DenyRename {
		conf.WriteString("<Limit RNFR RNTO>\nDenyAll\n</Limit>\n")
	}
}

// pureftpd serves an account of its own database.
func pureftpd(_ *Server, place *site) (daemon, error) {
	// The account is not made with pure-pw useradd: the hash that useradd makes takes seconds to
	// check.
	home := place.root
	if !place.Unconfined {
		home += "/./" // everything above is out of reach
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
		"-p", fmt.Sprintf("%d:%d", lowestPassive, highestPassive),
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

//go:embed pyftpdlib.py
var pyftpdlibServer string

// pyftpdlib runs with the Python it was packaged for, whatever comes first on
// the PATH.
func pyftpdlib(s *Server, place *site) (daemon, error) {
	const python = "/usr/bin/python3"
	if _, err := os.Stat(python); err != nil {
		lab.Lacking(s.t, "pyftpdlib needs "+python)
	}
	script, err := place.write("server.py", pyftpdlibServer)
	if err != nil {
		return nil, err
	}
	permissions := "elramwMT"
	if !place.NoRmdir {
		permissions += "d" // for DELE as well
	}
	if !place.DenyRename {
		permissions += "f"
	}
	config, err := json.Marshal(map[string]any{
		"port": place.port, "user": account, "password": password, "uid": uid, "gid": gid, "root": place.root,
		"permissions": permissions, "both": place.both, "unconfined": place.Unconfined, "implicit": place.Implicit,
		"max_conns": place.MaxConns, "idle": int(place.Idle.Seconds()),
	})
	if err != nil {
		return nil, err
	}
	p := newProcess(place, python, "-W", "ignore", script, string(config))
	p.env = append(p.env, "PYTHONDONTWRITEBYTECODE=1",
		"PYTHONPATH="+filepath.Join(place.programs, "usr/lib/python3/dist-packages"))
	return p, nil
}
