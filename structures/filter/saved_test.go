package filter_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	. "github.com/vkds/vkds/structures/filter"
	"github.com/vkds/vkds/structures/host"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

func TestSaved(t *testing.T) {
	pass.OneWidth(t, "copies are the same at every width")
	testSaved[uint32](t, 100)
	testSaved[float32](t, 1<<20) // more than is read at a time
	testSaved[int64](t, 3<<18)
}

func testSaved[K structures.Number](t *testing.T, capacity int) {
	d := testdevice.Open(t)
	f := newFilter[K](t, d, Options{Capacity: capacity})
	keys := randomKeys[K](11, 5000)
	require.NoError(t, f.Insert(t.Context(), keys))
	file := save(t, f)
	loaded, err := Load[K](t.Context(), d, bytes.NewReader(file), Options{})
	require.NoError(t, err)
	want := modelOf(f)
	want.insert(keys)
	want.require(t, loaded, keys, randomKeys[K](12, 5000))
	require.Equal(t, file, save(t, loaded))
	require.NoError(t, loaded.Insert(t.Context(), randomKeys[K](12, 100)))
	require.NoError(t, loaded.Close())
}

func save[K structures.Number](t testing.TB, f *Filter[K]) []byte {
	t.Helper()
	var file bytes.Buffer
	n, err := f.Save(t.Context(), &file)
	require.NoError(t, err)
	require.EqualValues(t, file.Len(), n)
	return file.Bytes()
}

// Errors speak of a filter, and say what else a file has.
func TestSavedErrors(t *testing.T) {
	pass.OneWidth(t, "files are the same at every width")
	d := testdevice.Open(t)
	var dictionary bytes.Buffer
	_, err := host.NewMap[uint32, uint32]().Save(t.Context(), &dictionary)
	require.NoError(t, err)
	file := save(t, newFilter[uint32](t, d, Options{Capacity: 50}))
	for want, file := range map[string][]byte{
		"the input is not a saved filter: it is a saved slabhash":           dictionary.Bytes(),
		"the input is not a saved filter":                                   []byte("key,value"),
		"the input ends too early: the saved filter is truncated":           file[:len(file)-3],
		"the input has keys of type uint32, which can't be loaded as int32": file,
	} {
		_, err := Load[int32](t.Context(), d, bytes.NewReader(file), Options{})
		if want == "the input ends too early: the saved filter is truncated" {
			_, err = Load[uint32](t.Context(), d, bytes.NewReader(file), Options{})
			require.ErrorIs(t, err, structures.ErrTruncated)
		}
		require.EqualError(t, err, want)
	}
}

// Damaged files and files of other types are errors, and leave no memory behind (testdevice).
func TestSavedDamaged(t *testing.T) {
	pass.OneWidth(t, "files are the same at every width")
	d := testdevice.Open(t)
	f := newFilter[uint32](t, d, Options{Capacity: 50})
	require.NoError(t, f.Insert(t.Context(), []uint32{1, 2, 3}))
	file := save(t, f)
	refused := func(file []byte, want error) {
		t.Helper()
		_, err := Load[uint32](t.Context(), d, bytes.NewReader(file), Options{})
		var saved *structures.SavedError
		require.ErrorAs(t, err, &saved)
		if want != nil {
			require.ErrorIs(t, err, want)
		}
	}
	for i := range file {
		damaged := bytes.Clone(file)
		damaged[i] ^= 1 << (i % 8)
		refused(damaged, nil)
		refused(file[:i], nil)
	}
	refused(append(bytes.Clone(file), 0), structures.ErrCorrupt)
	for what, header := range map[string]string{
		"not whole blocks": `{"structure":"filter","pairs":9,"key_type":"u32"}`,
		"no blocks":        `{"structure":"filter","pairs":0,"key_type":"u32"}`,
		"too many blocks":  `{"structure":"filter","pairs":9000000000000000000,"key_type":"u32"}`,
		"values":           `{"structure":"filter","pairs":16,"key_type":"u32","value_type":"u32"}`,
	} {
		t.Log(what)
		refused(withHeader(header), structures.ErrCorrupt)
	}
	refused(withHeader(`{"structure":"filter","pairs":16000000000,"key_type":"u32"}`), structures.ErrTruncated)
	refused(withHeader(`{"structure":"lsm","pairs":16,"key_type":"u32"}`), structures.ErrNotSaved)
	refused(withHeader(`{"structure":"filter","pairs":16,"key_type":"text"}`), nil)

	var types *structures.TypeError
	_, err := Load[int32](t.Context(), d, bytes.NewReader(file), Options{})
	require.ErrorAs(t, err, &types)
	_, err = Load[uint64](t.Context(), d, bytes.NewReader(file), Options{})
	require.ErrorAs(t, err, &types, "a wider type has other bits")
	_, err = slabhash.LoadSet[uint32](t.Context(), d, bytes.NewReader(file), slabhash.Options{})
	require.ErrorIs(t, err, structures.ErrNotSaved)
	_, err = host.LoadMap[uint32, uint32](t.Context(), bytes.NewReader(file))
	require.ErrorIs(t, err, structures.ErrNotSaved)
	var option *vk.OptionError
	_, err = Load[uint32](t.Context(), d, nil, Options{})
	require.ErrorAs(t, err, &option)
	_, err = f.Save(t.Context(), nil)
	require.ErrorAs(t, err, &option)
	broken := errors.New("broken")
	part := bytes.NewReader(file[:len(file)-9])
	_, err = Load[uint32](t.Context(), d, io.MultiReader(part, failing{broken}), Options{})
	require.ErrorIs(t, err, broken)
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// withHeader is a file of a description and of whole blocks of 32-bit numbers, with their checksums, which ends there.
func withHeader(description string, blocks ...[]byte) []byte {
	b := binary.LittleEndian.AppendUint32([]byte("VKDS\r\n\x1a\n"), 8)
	b = append(binary.LittleEndian.AppendUint32(b, uint32(len(description))), description...)
	sum := crc32.Checksum(b, castagnoli)
	b = binary.LittleEndian.AppendUint32(b, sum)
	for _, numbers := range blocks {
		block := append(binary.LittleEndian.AppendUint32(nil, uint32(len(numbers)/4)), numbers...)
		sum = crc32.Update(sum, castagnoli, block)
		b = binary.LittleEndian.AppendUint32(append(b, block...), sum)
	}
	return b
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A file that names more than it has takes at most four times the memory of what was read, and what that replaces.
func TestSavedBelieved(t *testing.T) {
	pass.OneWidth(t, "files are the same at every width")
	d := testdevice.Open(t, vk.Options{CacheDir: "none", MemoryLimit: 64 << 20})
	file := withHeader(`{"structure":"filter","pairs":16000000000,"key_type":"u32"}`,
		slices.Repeat([][]byte{make([]byte, 4*65536)}, 20)...)
	_, err := Load[uint32](t.Context(), d, bytes.NewReader(file), Options{})
	require.ErrorIs(t, err, structures.ErrTruncated, "and not vk.ErrNoRoom")
}
