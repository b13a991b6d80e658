/* A pid file as in cookbooks for C: made with O_EXCL, it holds the pid as it is in memory. With STALE in
   the environment the file of a process that is not there is removed, which has a race of its own. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HELD = 75 };

static int dead(const char *path)
{
	pid_t pid;
	int fd = open(path, O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, &pid, sizeof pid);
	if (fd >= 0)
		close(fd);
	return n == sizeof pid && kill(pid, 0) < 0 && errno == ESRCH;
}

static int take(const char *path)
{
	pid_t pid = getpid();
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);
	if (fd < 0 && getenv("STALE") && dead(path)) {
		unlink(path);
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);
	}
	if (fd < 0)
		return 0;
	if (write(fd, &pid, sizeof pid) != sizeof pid)
		exit(1);
	close(fd);
	return 1;
}

static void wait_for(const char *path)
{
	while (!take(path))
		usleep(50000);
}

static void run(char **argv)
{
	int status;
	pid_t child = fork();
	if (child == 0) {
		execvp(argv[0], argv);
		_exit(127);
	}
	if (waitpid(child, &status, 0) < 0 || status != 0)
		exit(1);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 64;
	const char *verb = argv[1], *path = argv[2];
	if (strcmp(verb, "try") == 0) {
		if (!take(path))
			return HELD;
		unlink(path);
	} else if (strcmp(verb, "hold") == 0) {
		wait_for(path);
		puts("held");
		fflush(stdout);
		while (getchar() != EOF)
			;
		unlink(path);
	} else if (strcmp(verb, "loop") == 0) {
		for (int rounds = atoi(argv[3]); rounds > 0; rounds--) {
			wait_for(path);
			run(argv + 4);
			unlink(path);
		}
		usleep(500000); /* or those that go by pids might hit the next one */
	}
	return 0;
}
