package input

import (
	"fmt"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
)

// Pages compressed with zstd and snappy begin with their length, for which the decoders allocate memory before they
// check it. So lengths are first compared with arrow-go's limit for pages.
func init() {
	for c, length := range map[compress.Compression]func([]byte) (uint64, error){
		compress.Codecs.Zstd: func(page []byte) (uint64, error) {
			var h zstd.Header
			err := h.Decode(page)
			return h.FrameContentSize, err
		},
		compress.Codecs.Snappy: func(page []byte) (uint64, error) {
			n, err := snappy.DecodedLen(page)
			return uint64(n), err
		},
	} {
		codec, err := compress.GetCodec(c)
		if err != nil {
			panic(err) // these two are always there
		}
		compress.RegisterCodec(c, checked(codec, length))
	}
}

// checked wraps a codec. Other methods of the codec stay as they are.
func checked(codec compress.Codec, length func(page []byte) (uint64, error)) compress.Codec {
	c := checkedCodec{codec, length}
	if streaming, ok := codec.(compress.StreamingCodec); ok {
		return struct {
			checkedCodec
			compress.StreamingCodec
		}{c, streaming}
	}
	return c
}

type checkedCodec struct {
	compress.Codec
	length func(page []byte) (uint64, error)
}

// DecodeWithError implements compress.ErrorCodec.
func (c checkedCodec) DecodeWithError(dst, page []byte) ([]byte, error) {
	n, err := c.length(page) // the codec returns the error of a page without a valid length
	if err == nil && n > uint64(parquet.DefaultMaxUncompressedPageSize) {
		return nil, fmt.Errorf("a page of %d bytes", n)
	}
	return compress.Decode(c.Codec, dst, page)
}
