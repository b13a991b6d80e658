package ftplab

import (
	"strings"

	"locksmith/test/programs"
)

// built is locksmith, and what it runs.
var built = programs.New("locksmith/cmd/locksmith", "locksmith/test/ftplab/witness", "locksmith/test/ftplab/sampleclient")

func cutZone() (key, value string) {
	key, value, _ = strings.Cut(zone, "=")
	return key, value
}
