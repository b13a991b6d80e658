package locksmith

import (
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// A job is a job object: its processes, and all that they start, can be ended together.
type job struct{ handle windows.Handle }

// enterJob puts this process into a job whose processes die with it: the system kills
// them when it closes the last handle, which is ours.
func enterJob() (job, error) {
	handle, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return job{}, os.NewSyscallError("CreateJobObject", err)
	}
	j := job{handle}
	if err := j.limit(windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE); err != nil {
		return job{}, err
	}
	return j, os.NewSyscallError("AssignProcessToJobObject", windows.AssignProcessToJobObject(handle, windows.CurrentProcess()))
}

func (j job) limit(flags uint32) error {
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: flags}}
	_, err := windows.SetInformationJobObject(j.handle, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	return os.NewSyscallError("SetInformationJobObject", err)
}

// killOthers ends all processes of the job but this one, and reports that there was
// none. One that starts another at that moment may leave that one: call again.
func (j job) killOthers() (none bool, err error) {
	var list struct {
		assigned, listed uint32
		pids             [1024]uintptr
	}
	err = windows.QueryInformationJobObject(j.handle, windows.JobObjectBasicProcessIdList, uintptr(unsafe.Pointer(&list)), uint32(unsafe.Sizeof(list)), nil)
	if err != nil && err != windows.ERROR_MORE_DATA {
		return false, os.NewSyscallError("QueryInformationJobObject", err)
	}
	none = true
	for _, pid := range list.pids[:list.listed] {
		if int(pid) == os.Getpid() {
			continue
		}
		none = false
		if h, err := windows.OpenProcess(windows.PROCESS_TERMINATE, false, uint32(pid)); err == nil {
			_, _ = windows.TerminateProcess(h, 1), windows.CloseHandle(h)
		}
	}
	return none, nil
}
