//go:build unix

#include <fcntl.h>

// Runs before the Go runtime does, which opens /dev/null in the place of what is closed.
unsigned vkds_closed;

__attribute__((constructor)) static void look(void) {
	for (int descriptor = 0; descriptor < 3; descriptor++)
		if (fcntl(descriptor, F_GETFD) == -1)
			vkds_closed |= 1u << descriptor;
}
