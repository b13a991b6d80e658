package ftpserver

import (
	"fmt"
	"path/filepath"
	"strings"
)

const proftpdConfig = `
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
	if place.TLS { // modules come before what they understand
		fmt.Fprintf(&conf, "ModulePath %s\nLoadModule mod_tls.c\n", filepath.Join(place.programs, "usr/lib/proftpd"))
	}
	conf.WriteString(proftpdConfig)
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
		if s.TLS12 { // not by environment: with both it would offer session tickets
			versions = "TLSv1.2"
		}
		fmt.Fprintf(conf, proftpdTLS, s.both, versions)
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
