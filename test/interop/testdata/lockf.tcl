# What the lockf of the Tcl wiki does ("Lock files using atomic hard links"), in our words: a file of one's
# own, the locker, is linked to the lock. It says who has the lock, and is written anew as a sign of life.
# First a locker sweeps what a process left that is not there any more. With STALE set, a lock so many
# seconds old is removed.

proc write {} {
	set now [clock milliseconds]
	set time [clock format [expr {$now / 1000}] -format "%Y-%m-%d %H:%M:%S.[expr {$now % 1000}]" -timezone :UTC]
	set state [list host [info hostname] pid [pid] lockfile $::lock locker $::locker timestamp $now time $time \
		randomiser [string repeat ~ [expr {int(rand() * 80)}]]]
	set file [open $::locker w]
	puts -nonewline $file $state
	close $file
}

proc owner path {
	set text ""
	catch {
		set file [open $path]
		set text [read $file]
		close $file
	}
	if {[catch {dict size $text}]} { return "" }
	return $text
}

proc sweep {} {
	foreach path [linsert [glob -nocomplain [file dirname $::lock]/.lockf~*.lck] end $::lock] {
		set state [owner $path]
		if {[dict exists $state host] && [dict get $state host] eq [info hostname] && ![file exists /proc/[dict get $state pid]]} {
			file delete $path
		}
	}
}

proc take {} {
	if {[info exists ::env(STALE)] && ![catch {file mtime $::lock} then] && [clock seconds] - $then >= $::env(STALE)} {
		file delete $::lock
	}
	set ::locker [file dirname $::lock]/.lockf~[info hostname]~[pid]~[file tail $::lock]~[clock microseconds]~1.lck
	sweep
	write
	if {![catch {file link -hard $::lock $::locker}]} { return 1 }
	file delete $::locker
	return 0
}

proc give {} { file delete $::locker $::lock }

proc await {} {
	while {![take]} { after 50 }
}

set argv [lassign $argv verb lock]
switch $verb {
	try {
		if {![take]} { exit 75 }
		give
	}
	hold {
		await
		puts held
		flush stdout
		while {[gets stdin] ne "" || ![eof stdin]} {
			write
			puts refreshed
			flush stdout
		}
		give
	}
	loop {
		set command [lassign $argv rounds]
		for {set i 0} {$i < $rounds} {incr i} {
			await
			exec {*}$command >@ stdout 2>@ stderr
			give
		}
	}
}
