# What the tests share.
package require tcltest 2.5
namespace import -force ::tcltest::*
lappend auto_path [file dirname [file dirname [file normalize [info script]]]]
package require locksmith

set program [expr {[info exists env(LOCKSMITH)] && $env(LOCKSMITH) ne "" ? $env(LOCKSMITH) : "locksmith"}]
testConstraint locksmith [expr {![catch {exec $program version}]}]
set frozen {-helper {sh -c {kill -STOP $$}}}  ;# it stops before its first line

# address returns the address of a new lock.
proc address {} {
    close [file tempfile path]
    file delete $path
    return local:$path
}

# talks returns a helper of that shell script.
proc talks {script} {list -helper [list sh -c $script]}

# within says how a script ended, and whether that took less than 12 seconds: what should come back in
# two may take longer on a busy machine, and without a bound takes 15, or for ever.
proc within {script} {
    set begun [clock milliseconds]
    catch {uplevel 1 $script} text more
    set code [expr {[dict exists $more -errorcode] ? [lrange [dict get $more -errorcode] 0 2] : ""}]
    return [list $code [expr {[clock milliseconds] - $begun < 12000}]]
}

# ended says how a script ended: the first words of its error's code.
proc ended {script} {
    if {![catch {uplevel 1 $script} text more]} {return "no error: $text"}
    return [lrange [dict get $more -errorcode] 0 2]
}

# gets tries to get a lock. It has no bound that a busy machine could miss, as try_acquire has.
proc got {address} {
    try {
        [locksmith acquire $address -ask {apply {busy {return end}}}] release
        return free
    } trap {LOCKSMITH HELD} {} {return held}
}

proc objects {} {llength [info class instances ::locksmith::Lock]}
