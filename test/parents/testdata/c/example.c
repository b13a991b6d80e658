#define _GNU_SOURCE /* for pipe2 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int ends[2], status;
	char line[4097] = "";
	if (argc < 2 || pipe2(ends, O_CLOEXEC) != 0)
		return 64;
	pid_t locker = fork();
	if (locker == 0) {
		dup2(ends[1], 1);
		execlp("locksmith", "locksmith", "hold", "--timeout", "10m", argv[1], (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	FILE *lines = fdopen(ends[0], "r");
	if (!lines || !fgets(line, sizeof line, lines) || strncmp(line, "OK", 2) != 0) {
		fprintf(stderr, "no lock: %s\n", line);
		return 75;
	}

	puts("working");

	fclose(lines);
	if (waitpid(locker, &status, 0) < 0 || status != 0) { /* waits: then it is released */
		fputs("lost the lock\n", stderr);
		return 79;
	}
	return 0;
}
