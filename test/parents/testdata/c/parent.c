/* parent SCENARIO LOCK GO: see doc.go. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *scenario, *lock, *go;

static void die(const char *what, const char *detail)
{
	fprintf(stderr, "%s: %s\n", what, detail);
	exit(1);
}

static void *start(void *unused)
{
	char command[8192];
	const char *limit = strcmp(scenario, "try") == 0 ? "--timeout 0" : "";

	(void)unused;
	snprintf(command, sizeof command, "exec locksmith hold %s '%s'", limit, lock);
	return popen(command, "r");
}

static FILE *start_in_thread(void)
{
	pthread_t thread;
	void *locker = NULL;

	if (pthread_create(&thread, NULL, start, NULL) != 0)
		die("pthread_create", "failed");
	pthread_join(thread, &locker);
	return locker;
}

/* The child has the pipe's read end. */
static void leave_child(void)
{
	pid_t child = fork();

	if (child < 0)
		die("fork", "failed");
	if (child == 0) {
		sleep(600);
		_exit(0);
	}
	printf("child %ld\n", (long)child);
}

static void echo_data(void)
{
	char line[4097];

	while (fgets(line, sizeof line, stdin))
		printf("data %s", line);
	puts("eof");
}

static void await_go(void)
{
	for (int i = 0; i < 2400; i++) {
		if (access(go, F_OK) == 0)
			return;
		usleep(50000);
	}
	die("await_go", "told nothing");
}

int main(int argc, char **argv)
{
	char line[4097] = "";
	FILE *locker;

	if (argc != 4)
		die("usage", "parent SCENARIO LOCK GO");
	scenario = argv[1], lock = argv[2], go = argv[3];
	setvbuf(stdout, NULL, _IOLBF, 0);

	locker = strcmp(scenario, "thread") == 0 ? start_in_thread() : start(NULL);
	if (!locker || !fgets(line, sizeof line, locker) || strncmp(line, "OK", 2) != 0)
		die("no lock", line);

	if (strcmp(scenario, "fork") == 0)
		leave_child();
	puts("working");
	if (strcmp(scenario, "data") == 0)
		echo_data();
	await_go();
	if (pclose(locker) != 0)
		die("pclose", "lost the lock");
	puts("released");
	return 0;
}
