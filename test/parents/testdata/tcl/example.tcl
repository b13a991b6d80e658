# Without 2>@stderr, close would take a log message for an error.
set locker [open |[list locksmith hold --stdin watch --timeout 10m [lindex $argv 0] 2>@stderr] r+]
gets $locker line
if {![string match OK* $line]} {error "no lock: $line"}

puts working

close $locker  ;# waits: then it is released, or an error is raised
