//go:build unix

package main

import (
	"os/signal"
	"syscall"
)

// A file that may not grow further (RLIMIT_FSIZE) makes the system send a signal that ends the process with a trace of
// all goroutines. Without the signal, the write fails, which the log names.
func refuseGrowth() { signal.Ignore(syscall.SIGXFSZ) }
