package input

import (
	"io"

	"github.com/ulikunitz/xz"
)

// xzReader corrects an error of ulikunitz/xz 0.5.17. If the data end inside a block's header, that package reports a
// regular end, so a truncated file, or one whose header claims to be too long, would read as a shorter one. So the data
// are followed by 1024 zero bytes. After a whole file these are padding, which the format allows. Elsewhere they fill
// the header (the longest has 1024 bytes), whose checksum then does not match.
type xzReader struct {
	z      *xz.Reader
	source *paddedReader
}

func newXZReader(r io.Reader) (io.Reader, error) {
	source := &paddedReader{r: r, padding: 1024}
	z, err := xz.NewReader(source)
	return &xzReader{z, source}, source.explain(err)
}

func (x *xzReader) Read(p []byte) (int, error) {
	n, err := x.z.Read(p)
	return n, x.source.explain(err)
}

type paddedReader struct {
	r       io.Reader
	ended   bool
	padding int
}

func (p *paddedReader) Read(dst []byte) (int, error) {
	if !p.ended {
		n, err := p.r.Read(dst)
		if err != io.EOF {
			return n, err
		}
		if p.ended = true; n > 0 {
			return n, nil
		}
	}
	if p.padding == 0 {
		return 0, io.EOF
	}
	n := min(len(dst), p.padding)
	clear(dst[:n])
	p.padding -= n
	return n, nil
}

// explain returns io.ErrUnexpectedEOF for an error in the padding.
func (p *paddedReader) explain(err error) error {
	if p.ended && err != nil && err != io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
