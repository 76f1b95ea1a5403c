package main

import "github.com/spf13/cobra"

// topics are what many commands have in common, told once: vkds help TOPIC.
var topics = []struct{ name, short, text string }{
	{"tables", "What a DICT or a TABLE is, and how its columns are read", tablesTopic},
	{"keys", "How keys and ranges of keys are given, on the command line and in files", keysTopic},
	{"types", "What keys and values may be, and how they are written", typesTopic},
	{"graphs", "What the file of a graph may be, and how it is read", graphsTopic},
	{"output", "Answers, files, notes, and the exit status", outputTopic},
}

func newTopic(name, short, text string) *cobra.Command {
	c := &cobra.Command{Use: name, Short: short, Long: text}
	c.SetHelpTemplate("{{.Long}}\n")
	return c
}

const tablesTopic = `A DICT is a dictionary that "vkds build" has saved, a file that ends in .vkds or begins
as one. Its structure, its types and its checksums are in it.

A TABLE is a file of rows, of which two columns are read:
  CSV              plain, or compressed by gzip, bzip2, xz or zstd (.gz, .bz2, .xz, .zst)
  Parquet          a regular file
  Arrow IPC        its file or its stream format, compressed or not
  u32le, u32be     binary, four bytes a value, compressed or not
  u64le, u64be     binary, eight bytes a value
--format says which it is where its first bytes and its ending don't. "-" is standard
input, from which all but Parquet may come, and saved dictionaries, too.

Keys and values are the first two columns, unless --key and --value say which, by name,
whatever its case where that is clear, or by number from 1. --key-type and --value-type
say what they hold (see "vkds help types"). Where several rows have the same key, the
last one counts.

In CSV fields stand between commas, tabs or semicolons, unless --delimiter or a first line
"sep=;" says. Where several of them divide most rows, it is the one by which the most rows
have as many fields as each other; of those that do so nearly alike, one that the first row
has, then the one of the most fields. Commas in numbers (12,50) divide nothing. Text is
UTF-8, or UTF-16 with its mark. --comment says how lines begin that are passed over.

The first line holds names where a column is asked by name, or where it has no numbers,
times or addresses, but a column has them below it, whether or not that column is read.
Where nothing tells, it holds data: --header says otherwise, as --no-header does.

A row without a value (an empty field, NULL, \N, NA, N/A or NaN in a column that isn't
text, a null or a NaN of Parquet or Arrow) is passed over, and a note says how many;
--null VALUE reads them as that.

A row that can't be read is an error, unless --skip-invalid: then such rows are counted
and passed over.

Most commands take a DICT and a TABLE alike: a table is loaded as build would load it.
--structure says into what: slabhash, a hash table; btree, a B-link-tree (also called
mvbtree); lsm, a log-structured merge tree; sortedarray. Without it, it is what a saved
dictionary was, and else a hash table, or where order is needed a sorted array, which
answers fastest.`

const keysTopic = `Keys and ranges of keys are taken from the command line, else from --keys FILE, else
from standard input. They are read and answered about a million at a time, so there may
be more than fit any memory; what is wrong with those of the command line and with the
first of a file is told before a table is read. What begins with a minus sign must be
told from a flag by "--" before it: vkds get t.csv --key-type i32 -- -5.

` + rangesHelp + `Files of keys (--keys and tally's FILE) are of these formats, by --keys-format or
--format:
  text         one a line; a first line that looks like a name is passed over, and so
               are blank lines, and blanks around a key
  lines        each line is a key as it is, whatever is in it, also none
  csv          columns of comma-separated or otherwise delimited text
  parquet      columns of a Parquet file
  arrow        columns of an Arrow IPC file or stream
  u32le        four bytes a key, least significant first: an integer, in two's
               complement for i32, as IEEE 754 has it for f32, the seconds since 1970
               for times
  u32be        the same, most significant first
  u64le        eight bytes a key, least significant first; of times the nanoseconds
               since 1970
  u64be        the same, most significant first
  auto         parquet and arrow by the first bytes or the ending, csv where the name
               ends in .csv or .tsv or a flag names a column, else text
Keys are column 1 and ranges columns 1 and 2, unless a flag names others. All but
Parquet may be compressed, by their endings: .gz, .bz2, .xz, .zst.`

// rangesHelp explains how ranges are given.
const rangesHelp = `Ranges are written LO:HI, and both ends belong to them. Either may be left out: LO: is
everything from LO on, :HI everything up to HI, and : all there is. A range whose ends
are reversed is empty. A date without a time, as the upper end, is that whole day:
2014-07-01:2014-07-02 are two days. A network, 192.0.2.0/24, is a range. In columns and
in binary files both ends have to be there.

`

const typesTopic = `Keys and values have 32 or 64 bits, as many as their columns need; where one of the two
needs 64, both have them. What they stand for is their type, which --key-type,
--value-type and --type name:
  u32    integers 0 to 4294967295, in decimal or with 0x
  u64    integers 0 to 18446744073709551615
  i32    integers -2147483648 to 2147483647
  i64    integers -9223372036854775808 to 9223372036854775807
  f32    numbers, rounded to 32-bit floats
  f64    numbers, rounded to 64-bit floats
  hex    hexadecimal integers, with or without 0x, or U+4E00; up to 16 digits
  time   times in UTC: 2014-07-01 00:00:00, 2014-07-01 00:00, RFC 3339, a date, or seconds
         since 1970. Whole seconds of 1970 to 2106 take 32 bits; others are nanoseconds
         in 64, from 1677 to 2262
  ip     IPv4 addresses, 192.0.2.1, or integers; or IPv6 networks of /64,
         2001:db8::/64. A full IPv6 address has 128 bits, and is refused, and so is a
         larger network, which is a range
  text   any text, of up to 4 MiB
Where none is named, columns of Parquet and Arrow say what they are. Their decimals are
integers or, with digits after the point, f64 if that holds them exactly, else an error;
their booleans are text, true and false, or 0 and 1 as integers. Other columns are what
all of their first values are: integers (u32, or i32 where some are negative, and u64 or
i64 only where some need it), numbers with fractions (f64), times or addresses. They are
text where none of them is one of these, and where one is a number with a leading zero
(007 is not 7) or an integer with a plus sign. If that comes late, the file is read again;
in a pipe it is an error. Among other kinds --skip-invalid passes over text.
u32, u64, i32, i64, f32 and f64 take nothing else. hex64, time64 and ip6 name the wide
forms of hex, time and ip.

Of text the host keeps the texts, and the device numbers of values and hashes of keys.
Answers are exact: keys that have the same hash are told apart. Text has no order: pairs
come in the order in which their keys first came, and range, count, min, max and the
neighbours want other keys, top other values.

A saved dictionary knows its types; keys that it is asked for are written as they are,
and so are answers. Order is that of the type: -1 comes before 1, and 09:00 before
10:00. Integers and times that it has no room for, such as half a second where keys are
whole ones, may be asked for as well: they aren't there, but have neighbours and are
ends of ranges. Numbers asked of f32 and f64 are rounded as the keys were, so that 0.1 is
there where 0.1 was inserted.`

const outputTopic = `Answers go to standard output.

Rows of data, as those of get, range or dump, are CSV under a line of names. With --json
each row is a JSON object on a line of its own, whose members have these names.
--limit N prints N rows at most.

                         in CSV               in JSON
  an integer             all its digits       a number with all its digits, also beyond
                                              2^53, where JavaScript and some other
                                              readers round it
  a float                as few digits as     the same, a number; an infinite one is
                         tell it from others  "+Inf" or "-Inf"
  a time, an address,    as "vkds help        a string
  a hexadecimal number   types" has it
  a text                 quoted if need be;   a string; bytes that aren't UTF-8 become
                         an empty one is ""   U+FFFD
  nothing                empty                null

A float has an exponent if it is 1e21 and more, or less than 1e-6. -0 is not 0.
Text that is not UTF-8 can't be written to Parquet and Arrow.

The commands that describe one thing, such as info, stats, verify, update and delete,
print a table of measures on a terminal, else CSV, and with --json one JSON document.

Commands replace output files atomically: they write a new file beside the old one, and
move it there when it is complete. So there is the old file or the new one, whatever
interrupts vkds. The new file has the old one's permissions. If its name is a symbolic
link, the link's target is replaced. An input file is never written over, but by update
and delete, whose work that is.

Anything but a regular file is written to in place: a device, a pipe, and a file that is
open already, by names such as /dev/stdout or /dev/fd/3. So "-o /dev/stdout >> log" appends to
log. Dictionaries, Parquet and Arrow are not written to a terminal.

An error is one line on standard error. Notes and the progress of long commands go there,
too, if it is a terminal. --verbose prints notes elsewhere as well, --quiet nowhere.

The exit status is
  0    if all went well, whether or not keys were found
  1    with --must-exist, if a key is absent; of doctor, if the device is not to be
       trusted
  2    if anything else is wrong: the line on standard error says what
  130  after an interrupt
A command whose answers nobody reads any more (vkds dump x.vkds | head) ends by SIGPIPE,
without a message. Standard output that is closed or full is an error.`
