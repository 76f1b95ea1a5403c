// Package vkds is empty: its documentation says which package has what. vkds keeps concurrent data structures in the
// memory of any vendor's GPU, through Vulkan.
//
//   - structures/slabhash: hash tables. Sums and counts by key (InsertAdd), joins (InsertDuplicate and FindAll).
//   - structures/filter: a Bloom filter, which tells most absent keys before another structure is asked.
//   - structures/btree: trees with snapshots. Ranges, nearest keys and ranks, while updates go on; time series; what
//     has changed between two snapshots.
//   - structures/lsm and structures/sortedarray: ordered data that arrives in batches, or changes rarely.
//   - structures/graph, with analytics and ordered: graphs that change.
//   - structures/host: the same methods over a hash table and a tree in the host's memory, without Vulkan.
//   - structures/shard: one dictionary over several devices.
//   - structures/relational: group by, with exact sums, and join, of slices and of arrays on the device.
//   - structures/primitives: sort, scan, merge, the k greatest and more, recorded into a stream.
//   - arrow, a module of its own: Arrow record batches in and out.
//   - structures: what all dictionaries have in common.
//   - vk and alloc: devices, buffers, streams, kernels and memory. Every program begins with vk.Open.
//
// docs/guide.md has whole programs for each of these tasks, docs/tool.md the command-line tool.
package vkds
