package doctor

import (
	"io/fs"
	"testing"
)

func TestLsMode(t *testing.T) {
	for mode, want := range map[fs.FileMode]string{
		0o755: "drwxr-xr-x", fs.ModeSetgid | 0o770: "drwxrws---", fs.ModeSticky | 0o777: "drwxrwxrwt",
		fs.ModeSticky | fs.ModeSetgid | fs.ModeSetuid: "d--S--S--T", fs.ModeDir | fs.ModeSetuid | 0o700: "drws------",
	} {
		if got := lsMode(mode); got != want {
			t.Errorf("lsMode of %o is %s, want %s", mode, got, want)
		}
	}
}
