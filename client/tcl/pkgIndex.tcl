package ifneeded locksmith 1.0 [list source [file join $dir locksmith.tcl]]
