# parent.tcl SCENARIO LOCK GO: see doc.go.
lassign $argv scenario lock go
fconfigure stdout -buffering line

proc await_go {go} {
    for {set i 0} {$i < 2400} {incr i} {
        if {[file exists $go]} return
        after 50
    }
    error "told nothing"
}

set limit [expr {$scenario eq "try" ? "--timeout 0" : ""}]
# Opened for reading only, the helper inherits our standard input.
set access [expr {$scenario eq "data" ? "r" : "r+"}]
set locker [open |[list locksmith hold {*}$limit $lock 2>@stderr] $access]
gets $locker line
if {![string match OK* $line]} {error "no lock: $line"}

if {$scenario eq "fork"} {
    puts "child [exec sleep 600 <@$locker >@$locker &]"
}
puts working
if {$scenario eq "data"} {
    while {[gets stdin line] >= 0} {puts "data $line"}
    puts eof
}
await_go $go
close $locker
puts released
