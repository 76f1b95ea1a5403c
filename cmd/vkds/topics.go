package main

import "github.com/spf13/cobra"

// topics explain what several commands have in common: vkds help TOPIC.
var topics = []struct{ name, short, text string }{
	{"tables", "What a DICT and a TABLE are, and how their columns are read", tablesTopic},
	{"keys", "How to write keys and ranges of keys, on the command line and in files", keysTopic},
	{"types", "The types of keys and values, and how to write them", typesTopic},
	{"graphs", "The formats of graphs, and how they are read", graphsTopic},
	{"output", "Answers, files, notes, and the exit status", outputTopic},
}

func newTopic(name, short, text string) *cobra.Command {
	c := &cobra.Command{Use: name, Short: short, Long: text}
	c.SetHelpTemplate("{{.Long}}\n")
	return c
}

const tablesTopic = `A DICT is a file in which "vkds build" has saved a dictionary, with its
structure, its types and checksums. vkds recognizes it by its ending, .vkds, or
by its first bytes.

A TABLE is a file of rows. Two of its columns are read, the keys and the values:
  CSV              plain, or compressed by gzip, bzip2, xz or zstd
                   (.gz, .bz2, .xz, .zst)
  Parquet          a regular file
  Arrow IPC        the file format or the stream format, compressed or not
  u32le, u32be     binary, four bytes a value, compressed or not
  u64le, u64be     binary, eight bytes a value, compressed or not
vkds recognizes Parquet and Arrow by their first bytes or the ending, and takes
other files for CSV, unless --format names the format. "-" is standard input.
All formats but Parquet can be read from there, and so can saved dictionaries.

Keys are the first column and values the second, unless --key and --value choose
others, by number from 1 or by name. Upper and lower case in a name matter only
if they tell columns apart. --key-type and --value-type say what the columns
hold (see "vkds help types"). If several rows have the same key, the last one
counts.

The fields of CSV are separated by commas, tabs or semicolons. --delimiter says
which; so do a first line "sep=;" and the ending .tsv, which stands for tabs.
Otherwise vkds guesses from the first rows. It takes the character that splits
the most of them into the same number of fields. Of several that do so about
equally well, it prefers one that also splits the first row, then the one that
makes the most fields. Commas do not count if they only occur in numbers
(12,50). Text is UTF-8, or UTF-16 with a byte order mark. --comment '#' skips
lines that begin with #.

--header says that the first line holds names, --no-header that it holds data.
Without them it holds names if a column is chosen by name. Otherwise vkds
guesses from all columns, also those that are not read: a number, a time or an
address in the first line means data, a word above numbers, times or addresses
means names. If neither occurs, the line is taken for data.

A row is skipped if it has no value in one of the two columns: if the field is a
null or a NaN of Parquet or Arrow or, in a column that isn't text, is empty,
NULL, \N, NA, N/A or NaN. A note says how many rows were skipped. --null VALUE
reads such fields as VALUE instead.

A row that can't be read is an error. With --skip-invalid, such rows are skipped
and counted.

Most commands take a TABLE in place of a DICT, and load it as build would.
--structure names the data structure: slabhash, a hash table; btree, a
B-link-tree (also called mvbtree); lsm, a log-structured merge tree; or
sortedarray. By default it is the structure of the saved dictionary; a table
becomes a hash table. If the command needs keys in order, tables and saved hash
tables become sorted arrays, which answer fastest.`

const keysTopic = `Keys and ranges of keys come from the command line, else from --keys FILE, else
from standard input. About a million are read and answered at a time, so there
may be more than fit into memory. Those of the command line, and the first ones
of a file, are checked before a table is loaded. Write "--" before keys that
begin with a minus sign, so that they are not taken for flags: vkds get t.csv
--key-type i32 -- -5.

` + rangesHelp + `Files of keys (--keys, and the FILE of tally) have one of these formats, which
--keys-format and --format name:
  text         a key a line; blank lines, blanks around a key, and a first line
               that looks like a name are skipped
  lines        a key a line; each line is a key exactly as it is, even if empty
  csv          columns of text, separated by commas or other characters
  parquet      columns of a Parquet file
  arrow        columns of an Arrow IPC file or stream
  u32le        four bytes a key, least significant first: integers (i32 in two's
               complement), f32 in IEEE 754, or times in seconds since 1970
  u32be        the same, most significant first
  u64le        eight bytes a key, least significant first; times are nanoseconds
               since 1970
  u64be        the same, most significant first
  auto         parquet and arrow by the first bytes or the ending; csv if the
               name ends in .csv or .tsv or a flag names a column; else text
Keys are in column 1, and ranges in columns 1 and 2, unless a flag names others.
All formats but Parquet may be compressed (.gz, .bz2, .xz, .zst).`

// rangesHelp explains how ranges are given.
const rangesHelp = `A range is written LO:HI, and includes both ends. Either end may be left out:
LO: is everything from LO on, :HI is everything up to HI, and : is everything. A
range whose LO is greater than its HI is empty. A date without a time is a whole
day, also as the end: 2014-07-01:2014-07-02 is two days. A network, 192.0.2.0/24,
is a range of addresses. In columns and in binary files both ends must be given.

`

const typesTopic = `Each column of keys or values has a type. --key-type, --value-type and --type
name it. Keys and values have 32 bits each, or 64 bits each if either needs
them.

  u32    integers from 0 to 4294967295, in decimal or with 0x
  u64    integers from 0 to 18446744073709551615
  i32    integers from -2147483648 to 2147483647
  i64    integers from -9223372036854775808 to 9223372036854775807
  f32    numbers, rounded to 32-bit floats
  f64    numbers, rounded to 64-bit floats
  hex    hexadecimal integers of up to 16 digits, with or without 0x, or U+4E00
  time   times in UTC: 2014-07-01 00:00:00, 2014-07-01 00:00, RFC 3339, a date,
         or seconds since 1970. Whole seconds from 1970 to 2106 take 32 bits.
         Other times take 64 bits, as nanoseconds from 1677 to 2262
  ip     IPv4 addresses, 192.0.2.1, or integers; or IPv6 networks of /64,
         2001:db8::/64. A full IPv6 address has 128 bits and is an error, and so
         is a larger network, which is a range
  text   any text of up to 4 MiB

hex, time and ip take 64 bits only if a value needs them; hex64, time64 and ip6
always do. The other named types never change.

If no type is named, Parquet and Arrow say what a column holds. Their decimals
are integers or, with digits after the point, f64; a decimal that f64 can't hold
exactly is an error. Their booleans are the texts true and false, or 0 and 1 if
an integer type is named.

In other files the type is guessed from the first values of the column:
  integers    if all are: u32, or i32 if some are negative; u64 or i64 if some
              need 64 bits
  f64         if all are numbers, some have fractions, and f64 has all the
              integers exactly
  time, ip    if all are times or addresses
  text        if none is any of these; or if one is a number with a leading zero
              (007 is not 7), or an integer with a plus sign
If a number with a leading zero or a plus sign comes later, the file is read
again and the column is text; in a pipe that is an error. With --skip-invalid,
texts among values of another kind are skipped. For group, distinct, join and sort,
a column is text if most of the first values are words, and f64 if a fraction comes
after integers.

Texts stay in the host's memory; the device holds hashes of keys and numbers of
values. Answers are exact: keys with the same hash are told apart. Texts have no
order: pairs come in the order in which their keys first came. So the keys of
range, count, min, max and the commands for neighbours can't be text, nor can
the values of top.

A saved dictionary records its types. Keys to look up are written in that type,
and so are answers. Order is that of the type: -1 comes before 1, and 09:00
before 10:00. You may look up integers and times that don't fit the type, such
as half a second among whole seconds: they are absent, but they have neighbours
and can be the ends of ranges. Numbers that you look up among f32 and f64 are
rounded as the keys were, so 0.1 is found if 0.1 was inserted.`

const outputTopic = `Answers go to standard output.

Rows of data, such as those of get, range and dump, are CSV with a first line of
names. With --json, each row is a JSON object on a line of its own, whose
members have these names. --limit N prints at most N rows.

                         in CSV               in JSON
  an integer             all its digits       a number with all its digits, even
                                              beyond 2^53, where some readers,
                                              such as JavaScript, round it
  a float                as few digits as     the same, a number; infinite ones
                         tell it from others  are "+Inf" and "-Inf"
  a time, an address,    as in "vkds help     a string
  a hexadecimal number   types"
  a text                 in quotes if need    a string; bytes that aren't UTF-8
                         be; empty is ""      become U+FFFD
  no value               empty                null

A float is written with an exponent if its magnitude is 1e21 or more, or less
than 1e-6. -0 is not 0. Text that is not UTF-8 can't be written to Parquet and
Arrow.

Commands that describe one thing, such as info, stats, verify, update and
delete, print a table of measures on a terminal, else CSV. With --json they
print one JSON document.

Output files are replaced atomically: vkds writes a new file beside the old one,
and moves it there when it is complete. Whatever interrupts vkds, either the old
file or the new one is there, whole. The new file gets the old one's
permissions. If the name is a symbolic link, the link's target is replaced.
Input files are never overwritten, except that update and delete replace the
dictionary that they change.

Anything but a regular file is written to in place: a device, a pipe, or a file
that is already open, by names such as /dev/stdout or /dev/fd/3. So
"-o /dev/stdout >> log" appends to log. Dictionaries, Parquet and Arrow are not
written to a terminal.

An error is one line on standard error. Notes and the progress of long commands
also go there if it is a terminal. --verbose prints notes even if it is not,
--quiet prints neither.

The exit status is
  0    if all went well, whether or not keys were found
  1    with --must-exist, if a key is absent; for doctor, if the device is not
       to be trusted
  2    if anything else is wrong; the line on standard error says what
  130  after an interrupt
If nobody reads the answers any more (vkds dump x.vkds | head), SIGPIPE ends the
command without a message. If standard output is closed or full, that is an
error.`
