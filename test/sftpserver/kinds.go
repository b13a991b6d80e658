package sftpserver

import (
	_ "embed" // the server
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"locksmith/test/ftpserver"
	"locksmith/test/lab"
)

// write makes a file for root only.
func (s *Server) write(name, text string) error {
	return os.WriteFile(s.file(name), []byte(text), 0o600)
}

func openSSH(s *Server, o Options) (daemon, error) {
	subsystem := "internal-sftp"
	if o.External {
		subsystem = "/usr/lib/openssh/sftp-server"
	}
	return sshd(s, o, subsystem)
}

func pkgSFTP(s *Server, o Options) (daemon, error) {
	return sshd(s, o, lab.Program(s.t, "test/sftpserver/pkgsftp"))
}

// sshd is an OpenSSH with a subsystem.
func sshd(s *Server, o Options, subsystem string) (daemon, error) {
	const program = "/usr/sbin/sshd"
	if _, err := os.Stat(program); err != nil {
		lab.Lacking(s.t, "openssh-server is missing")
	}
	if o.MaxStartups == 0 {
		o.MaxStartups = 500
	}
	text := fmt.Sprintf("Port %d\nListenAddress 127.0.0.1\nHostKey %s\nPidFile none\nUsePAM no\nStrictModes no\n"+
		"AuthorizedKeysFile %s\nMaxStartups %d\nMaxSessions 500\n",
		s.port, s.file("hostkey"), s.file("keys"), o.MaxStartups)
	if !o.NoSubsystem {
		text += "Subsystem sftp " + subsystem + "\n"
	}
	if o.Chroot {
		text += "ChrootDirectory %h\nForceCommand internal-sftp -d /files\n"
	}
	return daemon{argv: []string{program, "-D", "-f", s.file("conf"), "-E", s.file("log")}}, s.write("conf", text+o.Extra+"\n")
}

// proFTPD starts the ProFTPD that the tests of FTP use, with another module.
func proFTPD(s *Server, _ Options) (daemon, error) {
	programs, env := ftpserver.Programs(s.t, "proftpd")
	keys, err := exec.Command("ssh-keygen", "-e", "-f", s.file("key.pub")).Output() // in the format of RFC 4716
	if err := errors.Join(err, os.WriteFile(s.file("keys"), keys, 0o644), os.Chmod(s.file("passwd"), 0o600)); err != nil {
		return daemon{}, err
	}
	text := fmt.Sprintf("ModulePath %s\nLoadModule mod_sftp.c\n"+ftpserver.ProFTPDConfig+
		"Port %d\nAuthUserFile %s\nAuthGroupFile %s\nPidFile %s\nScoreboardFile %s\nSystemLog none\n"+
		"SFTPEngine on\nSFTPHostKey %s\nSFTPAuthMethods publickey\nSFTPAuthorizedUserKeys file:%s\nSFTPLog %s\nSFTPMaxChannels 500\n",
		filepath.Join(programs, "usr/lib/proftpd"), s.port, s.file("passwd"), s.file("group"), s.file("pid"), s.file("board"),
		s.file("hostkey"), s.file("keys"), s.file("sftplog"))
	return daemon{[]string{filepath.Join(programs, "usr/sbin/proftpd"), "-n", "-q", "-c", s.file("conf")}, env}, s.write("conf", text)
}

//go:embed asyncssh.py
var asyncSSHServer string

// asyncSSH runs with the Python that asyncssh was packaged for, whichever Python comes first on
// the PATH.
func asyncSSH(s *Server, _ Options) (daemon, error) {
	const python = "/usr/bin/python3"
	if exec.Command(python, "-W", "ignore", "-c", "import asyncssh").Run() != nil {
		lab.Lacking(s.t, "python3-asyncssh is missing")
	}
	config, err := json.Marshal(map[string]any{
		"port": s.port, "uid": s.UID, "gid": s.GID, "home": s.Home, "host_key": s.file("hostkey"), "keys": s.file("keys"),
	})
	if err != nil {
		return daemon{}, err
	}
	return daemon{argv: []string{python, "-W", "ignore", s.file("server.py"), string(config)}}, s.write("server.py", asyncSSHServer)
}
