package child

import (
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// RaiseDefault does to this process what a signal does to one that does not handle it. The
// process stops until it is continued, or it ends. Go's own handlers stay in the way even after
// signal.Reset. A stop from a terminal is ignored if no shell would see it.
func RaiseDefault(s unix.Signal) {
	runtime.LockOSThread() // the signal is for this thread, so it acts before tgkill returns
	defer runtime.UnlockOSThread()
	var standard, ours sigaction
	if !swapAction(s, &standard, &ours) {
		return
	}
	_ = unix.Tgkill(unix.Getpid(), unix.Gettid(), s)
	swapAction(s, &ours, nil)
}

// leaveToSystem has signals do what they do to a program that does not handle them, until
// restore is called.
func leaveToSystem(all []os.Signal) (restore func(), ok bool) {
	ours := make([]sigaction, len(all))
	for i, s := range all {
		var standard sigaction
		if !swapAction(s.(unix.Signal), &standard, &ours[i]) {
			return func() {}, false
		}
	}
	return func() {
		for i, s := range all {
			swapAction(s.(unix.Signal), &ours[i], nil)
		}
	}, true
}

// isIgnored reports whether this process ignores a signal for which Go has no handler yet.
func isIgnored(s unix.Signal) bool {
	const ignore = 1 // SIG_IGN
	var now sigaction
	return swapAction(s, nil, &now) && now.handler == ignore
}

// A sigaction has the handler, and more in an order that depends on the architecture. All zeros
// are SIG_DFL.
type sigaction struct {
	handler uintptr
	more    [7]uint64
}

func swapAction(s unix.Signal, set, old *sigaction) bool {
	const maskSize = 8
	_, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(s),
		uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(old)), maskSize, 0, 0)
	return errno == 0
}
