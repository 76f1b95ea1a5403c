package main

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/vkds/vkds/internal/tool/serve/bulk"
)

func newGetCommand(g *global) *cobra.Command {
	c := &cobra.Command{
		Use:   "get DICT-or-TABLE [KEY…]",
		Short: "Look up keys",
		Long: `Get looks up keys in a saved dictionary or a table, and prints each with its
value, in the order asked for. If a key is absent, its value is empty. Keys come
from the command line, else from --keys FILE, else from standard input, one a
line (see "vkds help keys").

With --server, get asks a server (vkds serve --flight) instead, which knows the
types: all arguments are keys then.

The exit status is 0 whether or not the keys are there; with --must-exist it is
1 if a key is absent.

` + sourceHelp,
		Example: `  vkds get airports.csv --key id --value altitude 507 3797
  vkds get airports.vkds --keys wanted.txt.gz --must-exist
  vkds get taxi.csv --key-type time --value-type f32 "2014-07-01 00:30:00"
  vkds get words.csv --key word apple
  vkds get UnicodeData.txt --delimiter ';' --key-type hex --value 4 0x0301
  vkds get --server localhost:8815 --keys wanted.txt`,
	}
	return g.aboutKeys(c, keyQuestion{
		mustExist: "exit with status 1 if a key is absent",
		columns:   pairColumns,
		ask: func(ctx context.Context, dict *dictionary, keys numbers) ([]bool, func(*row, int), error) {
			values, found, err := dict.find(ctx, keys)
			return found, func(r *row, i int) {
				r.word(keys.shown, keys.words[i])
				r.wordIf(dict.values(), values[i], found[i])
			}, err
		},
		server: &remote{},
		askServer: func(ctx context.Context, c *bulk.Client, keys numbers) ([]bool, func(*row, int), error) {
			values, found, err := findRemotely(ctx, c, keys)
			return found, func(r *row, i int) {
				r.word(keys.shown, keys.words[i])
				r.wordIf(values.shown, values.words[i], found[i])
			}, err
		},
	})
}
