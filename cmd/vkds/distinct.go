package main

import (
	"fmt"
	"os"

	"github.com/vkds/vkds/internal/tool/input"
)

// checkInputs refuses input files that can't be opened, before any work is done, and an output that is one of them.
func checkInputs(output string, inputs ...string) error {
	for _, file := range inputs {
		if err := input.Check(file); err != nil {
			return err
		}
	}
	return distinct(output, inputs...)
}

// distinct refuses an output that is one of the inputs, under whatever names: it would be lost, or be read as it grows.
// "-" is standard output, and among the inputs standard input.
func distinct(output string, inputs ...string) error {
	out, err := stat(output, os.Stdout)
	if err != nil || !out.Mode().IsRegular() {
		return nil // a new file, a pipe, a terminal; or what will be told when it is written
	}
	for _, file := range inputs {
		in, err := stat(file, os.Stdin)
		if err != nil || !os.SameFile(out, in) {
			continue
		}
		if output == input.Stdin {
			return fmt.Errorf("standard output is the same file as %s, which is read", called(file))
		}
		return fmt.Errorf("%s is not written: it is the same file as %s, which is read", output, called(file))
	}
	return nil
}

// besideAnswer refuses an output that is standard output, where a command's answer goes.
func besideAnswer(output string) error {
	out, err := os.Stat(output)
	if err != nil || out.Mode()&os.ModeCharDevice != 0 {
		return nil
	}
	if answer, err := os.Stdout.Stat(); err == nil && os.SameFile(out, answer) {
		return fmt.Errorf("%s is standard output, which the answer goes to", output)
	}
	return nil
}

// errBothFromStdin says that two inputs can't both come from standard input.
func errBothFromStdin(one, other string) error {
	return fmt.Errorf("%s and %s can't both come from standard input", one, other)
}

func stat(path string, standard *os.File) (os.FileInfo, error) {
	if path == input.Stdin {
		return standard.Stat()
	}
	return os.Stat(path)
}

func called(file string) string {
	if file == input.Stdin {
		return "standard input"
	}
	return file
}
