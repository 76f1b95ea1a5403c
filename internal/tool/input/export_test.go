package input

import "io"

func init() { leastXZBlock = 0 } // files of tests are small

// Stream reads what is no file. Progress isn't called.
func Stream(name string, r io.Reader, o Options) (*Reader, error) {
	o.Progress = nil
	return newReader(name, r, o)
}
