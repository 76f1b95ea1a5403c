package main_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Package input tests the formats in full; here the tool is seen to read them.
func TestColumnarTables(t *testing.T) {
	hostSuffices(t)
	ids, sizes := []int64{5, 4294967295, 7}, []int64{50, 60, 1 << 33}

	root := schema.MustGroup(schema.NewGroupNode("schema", parquet.Repetitions.Required, schema.FieldList{
		schema.NewInt64Node("id", parquet.Repetitions.Required, -1),
		schema.NewInt64Node("size", parquet.Repetitions.Required, -1),
	}, -1))
	var columns bytes.Buffer
	w := file.NewParquetWriter(&columns, root)
	group, err := w.AppendRowGroupChecked()
	require.NoError(t, err)
	for _, numbers := range [][]int64{ids, sizes} {
		c, err := group.NextColumn()
		require.NoError(t, err)
		_, err = c.(*file.Int64ColumnChunkWriter).WriteBatch(numbers, nil, nil)
		require.NoError(t, err)
		require.NoError(t, c.Close())
	}
	require.NoError(t, group.Close())
	require.NoError(t, w.Close())
	pq := write(t, "t.parquet", columns.String())

	s := arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64},
		{Name: "size", Type: arrow.PrimitiveTypes.Int64}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	b.Field(0).(*array.Int64Builder).AppendValues(ids, nil)
	b.Field(1).(*array.Int64Builder).AppendValues(sizes, nil)
	var stream bytes.Buffer
	aw := ipc.NewWriter(&stream, ipc.WithSchema(s))
	require.NoError(t, aw.Write(b.NewRecordBatch()))
	require.NoError(t, aw.Close())
	ar := write(t, "t.arrow", stream.String())

	for _, path := range []string{pq, ar} {
		out, _ := answer(t, "", "get", path, "--key", "id", "--value", "size", "5", "7", "4294967295")
		assert.Equal(t, "key,value\n5,50\n7,8589934592\n4294967295,60\n", out)
		out, notes := answer(t, "", "get", path, "--key", "id", "--value", "size", "--value-type", "u32",
			"--skip-invalid", "5", "7", "4294967295")
		assert.Equal(t, "key,value\n5,50\n7,\n4294967295,60\n", out)
		assert.Contains(t, notes, "; 1 skipped")
		assert.Equal(t, path+`: row 3: column "size": 8589934592 is out of range (0 to 4294967295)`,
			refusal(t, "", "get", path, "--key", "id", "--value", "size", "--value-type", "u32", "5"))
	}
	for _, name := range []string{"t.parquet", "t.arrow"} {
		assert.Contains(t, refusal(t, "", "get", write(t, name, "PAR1"), "5"),
			string(filepath.Separator)+name+": not a")
	}
	for _, arguments := range [][]string{{"--format", "arrow"}, {}} {
		out, _ := answer(t, stream.String(), append([]string{"get", "-", "--value", "id", "7"}, arguments...)...)
		assert.Equal(t, "key,value\n7,7\n", out)
	}
	assert.Contains(t, refusal(t, columns.String(), "get", "-", "7"),
		"standard input: a Parquet file must be an uncompressed regular file")
	for flag, formats := range map[string]string{"--header": "csv, text", "--no-header": "csv, text",
		"--delimiter=;": "csv", "--comment=#": "csv, text"} {
		assert.Equal(t, ar+": --"+strings.Split(flag[2:], "=")[0]+" is for "+formats+", not for arrow",
			refusal(t, "", "get", ar, flag, "7"))
	}
	// Keys and ranges come from such files, too, of one column or two.
	keys := write(t, "t.csv", "5,1\n7,2\n")
	for _, path := range []string{pq, ar} {
		out, _ := answer(t, "", "get", keys, "--keys", path)
		assert.Equal(t, "key,value\n5,1\n4294967295,\n7,2\n", out)
		out, _ = answer(t, "", "get", keys, "--keys", path, "--keys-column", "id")
		assert.Equal(t, "key,value\n5,1\n4294967295,\n7,2\n", out)
		assert.Equal(t, path+": --keys-comment is for csv, text, not for "+
			map[string]string{pq: "parquet", ar: "arrow"}[path],
			refusal(t, "", "get", keys, "--keys", path, "--keys-comment", "#"))
		out, _ = answer(t, "", "tally", path, "--column", "id", "--top", "1")
		assert.Equal(t, "key,count\n5,1\n", out)
	}
	out, _ := answer(t, stream.String(), "count", keys, "--keys", "-", "--keys-column", "id,id")
	assert.Equal(t, "lo,hi,count\n5,5,1\n4294967295,4294967295,0\n7,7,1\n", out)
	assert.Equal(t, "standard input: a Parquet file must be an uncompressed regular file",
		refusal(t, columns.String(), "get", "-", "--format", "parquet", "7"))
}
