package input

import (
	"encoding/binary"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/vkds/vkds/internal/tool/keytype"
)

// dictionaryPage has the texts of a row group's dictionary page. arrow-go returns the texts of dictionary-encoded pages
// as slices of that page, so their addresses tell which ones they are. Other pages may follow whose texts are not in
// it.
type dictionaryPage struct {
	file.PageReader
	page    []byte
	texts   *keytype.Arena // nil: there is no dictionary
	numbers []uint32       // 1 + the number in texts, by a quarter of the place in page; 0: no text begins there
	empty   uint32         // 1 + the number of the empty text; 0: it isn't there
}

// openTexts returns a leaf for a column of texts.
func openTexts(group *file.RowGroupReader, column int) (leaf, error) {
	pages, err := group.GetColumnPageReader(column)
	if err != nil {
		return nil, err
	}
	d := &dictionaryPage{PageReader: pages}
	//lint:ignore SA1019 there is no other function that takes a PageReader and returns texts
	chunk := file.NewColumnReader(group.MetaData().Schema.Column(column), d, memory.DefaultAllocator, nil)
	return newLeaf(chunk.(*file.ByteArrayColumnChunkReader), d.add), nil
}

// Page returns the current page, like the PageReader, and keeps it if it is a dictionary.
func (d *dictionaryPage) Page() file.Page {
	page := d.PageReader.Page()
	if of, is := page.(*file.DictionaryPage); is && d.texts == nil {
		d.keep(of.Data())
	}
	return page
}

// keep adds the texts of a page to texts. Each is after its length of 4 bytes, so no two have the same quarter of their
// place. Texts after damage, or when the arena is full, are not added.
func (d *dictionaryPage) keep(page []byte) {
	const before = 4
	d.page, d.texts, d.numbers = page, &keytype.Arena{}, make([]uint32, len(page)/before+1)
	for at := 0; at+before <= len(page) && !d.texts.Full(); {
		length := int(binary.LittleEndian.Uint32(page[at:]))
		if at += before; length > len(page)-at {
			return
		}
		switch text := page[at : at+length]; {
		case length > keytype.Longest: // an error of its rows
		case length > 0:
			d.numbers[at/before] = uint32(d.texts.Add(text)) + 1
		default:
			d.empty = uint32(d.texts.Add(text)) + 1
		}
		at += length
	}
}

// number returns 1 + the number of a text that is in the dictionary page, or 0.
func (d *dictionaryPage) number(text []byte) uint32 {
	if len(text) == 0 { // its address is not after its length
		return d.empty
	}
	at := uintptr(unsafe.Pointer(unsafe.SliceData(text))) - uintptr(unsafe.Pointer(unsafe.SliceData(d.page)))
	if at >= uintptr(len(d.page)) {
		return 0
	}
	return d.numbers[at/4]
}

// add adds the texts of a page. Texts of the dictionary are numbers of values that begin with it.
func (d *dictionaryPage) add(v *values, page []parquet.ByteArray) {
	if v.texts.Len() == 0 && len(page) > 0 && d.number(page[0]) > 0 {
		v.texts, _ = keytype.Joined([]*keytype.Arena{d.texts})
		v.dictionary = d.texts
	}
	for _, text := range page {
		if n := d.number(text); n > 0 && v.dictionary != nil {
			v.words = append(v.words, uint64(n-1))
		} else {
			v.add(text)
		}
	}
}
