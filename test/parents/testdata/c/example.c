#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	char command[8192], line[4097] = "";
	/* exec makes the helper a child of ours, not of popen's shell. */
	snprintf(command, sizeof command, "exec locksmith hold '%s'", argc > 1 ? argv[1] : "");
	FILE *locker = popen(command, "r");
	if (!locker || !fgets(line, sizeof line, locker) || strncmp(line, "OK", 2) != 0) {
		fprintf(stderr, "no lock: %s\n", line);
		return 1;
	}

	puts("working");

	if (pclose(locker) != 0) { /* waits: then it is released */
		fputs("lost the lock\n", stderr);
		return 1;
	}
	return 0;
}
