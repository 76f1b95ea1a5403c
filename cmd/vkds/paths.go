package main

import (
	"fmt"
	"os"

	"github.com/vkds/vkds/internal/tool/input"
)

// checkInputs returns an error if an input file can't be opened, or if the output is one of the inputs. Commands call
// it before they begin to work.
func checkInputs(output string, inputs ...string) error {
	for _, file := range inputs {
		if err := input.Check(file); err != nil {
			return err
		}
	}
	return distinct(output, inputs...)
}

// distinct returns an error if the output is one of the inputs, even by another name: the input would be lost, or be
// read while it grows. "-" is standard output as an output, and standard input as an input.
func distinct(output string, inputs ...string) error {
	out, err := stat(output, os.Stdout)
	if err != nil || !out.Mode().IsRegular() {
		return nil // a new file, a pipe or a terminal; or an error that writing will report
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

// besideAnswer returns an error if the output is standard output, because a command's answer goes there.
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

// errBothFromStdin returns the error of two inputs that are both to come from standard input.
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
