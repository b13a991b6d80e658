package filesystem

import (
	"fmt"
	"io/fs"
	"os"
)

// A permit is who may do what in a directory.
type permit struct {
	mode      string
	writable  bool // by us
	everybody bool // may write
	sticky    bool
}

func accessTo(dir string) (permit, error) {
	st, err := os.Stat(dir)
	if err != nil {
		return permit{}, err
	}
	if !st.IsDir() {
		return permit{}, fmt.Errorf("%s is not a directory", dir)
	}
	return permit{
		mode:      st.Mode().String(),
		writable:  mayWrite(dir),
		everybody: st.Mode().Perm()&0o002 != 0,
		sticky:    st.Mode()&fs.ModeSticky != 0,
	}, nil
}
