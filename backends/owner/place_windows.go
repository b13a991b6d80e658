package owner

import (
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
)

// look finds out the place of this process.
func look() Place {
	host, _ := os.Hostname()
	return Place{Host: host, Machine: machine(), Boot: boot(), PIDNS: windowsPIDs}
}

// machine is an id that Windows makes at its installation.
func machine() string {
	key, err := registry.OpenKey(registry.LOCAL_MACHINE, `SOFTWARE\Microsoft\Cryptography`, registry.QUERY_VALUE|registry.WOW64_64KEY)
	if err != nil {
		return ""
	}
	defer key.Close()
	guid, _, _ := key.GetStringValue("MachineGuid")
	return guid
}

// systemPID is the process "System", which the kernel starts at boot and never ends.
const systemPID = 4

// boot is when the System process started, in units of 100 ns. That is as good as random, and
// stepping the clock does not change it.
func boot() string {
	buf := make([]byte, 1<<20)
	err := windows.NtQuerySystemInformation(windows.SystemProcessInformation, unsafe.Pointer(&buf[0]), uint32(len(buf)), nil)
	for err == nil {
		p := (*windows.SYSTEM_PROCESS_INFORMATION)(unsafe.Pointer(&buf[0]))
		switch {
		case p.UniqueProcessID == systemPID && p.CreateTime != 0:
			return strconv.FormatInt(p.CreateTime, 10)
		case p.NextEntryOffset == 0:
			return ""
		}
		buf = buf[p.NextEntryOffset:]
	}
	return ""
}
