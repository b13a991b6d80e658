// Lets linux.uml run on processors with more registers than it knows (Intel's AMX).
//
// To set the registers of a process, ptrace(2) with NT_X86_XSTATE demands the whole state of the
// processor, however much of it is in use. linux.uml has room for what it knows, gives that much,
// and gets EFAULT: "ptrace set fp regs failed, errno = 14". lab.sh has it preload this file, which
// makes up the missing end with zeros. That is no loss: a guest's process may not use registers
// that its kernel does not know.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>

// linux.uml's stacks are small, and it has one thread.
static char whole[1 << 16];

long ptrace(enum __ptrace_request request, ...)
{
	va_list rest;
	va_start(rest, request);
	pid_t pid = va_arg(rest, pid_t);
	void *address = va_arg(rest, void *);
	void *data = va_arg(rest, void *);
	va_end(rest);

	struct iovec longer = {whole, sizeof whole}; // the kernel takes as much as it has
	struct iovec *given = data;
	if (request == PTRACE_SETREGSET && address == (void *)NT_X86_XSTATE && given->iov_len < sizeof whole) {
		memcpy(whole, given->iov_base, given->iov_len);
		data = &longer;
	}
	static long (*next)(enum __ptrace_request, ...);
	if (!next)
		next = dlsym(RTLD_NEXT, "ptrace");
	return next(request, pid, address, data);
}
