source [file join [file dirname [info script]] ../../../../../client/tcl/locksmith.tcl]

set lock [locksmith acquire [lindex $argv 0] -timeout 600]
puts working
$lock release
