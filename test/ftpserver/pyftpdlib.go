package ftpserver

import (
	_ "embed" // the server
	"encoding/json"
	"os"
	"path/filepath"

	"locksmith/backends/backendtest"
)

//go:embed pyftpdlib.py
var pyftpdlibServer string

// pyftpdlib runs with the Python it was packaged for, whatever comes first on
// the PATH.
func pyftpdlib(s *Server, place *site) (daemon, error) {
	const python = "/usr/bin/python3"
	if _, err := os.Stat(python); err != nil {
		backendtest.Lacking(s.t, "pyftpdlib needs "+python)
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
		"permissions": permissions, "both": place.both, "unconfined": place.Unconfined,
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
