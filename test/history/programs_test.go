package history

import "locksmith/test/programs"

// Starting them is most of the work.
var built = programs.Static("locksmith/cmd/locksmith", "locksmith/test/history/parent")
