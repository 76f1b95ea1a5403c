package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/vk"
)

func TestKernelFile(t *testing.T) {
	f := kernelFile{}
	require.Nil(t, f.listener(), "nobody wants to know")
	f.path = "kernels.csv"
	tell := f.listener()
	tell(vk.KernelReport{Module: "a", Workgroup: 64, SubgroupSize: 32,
		Constants:  map[string]uint32{"TILE": 4, "KIND": 2},
		Statistics: []vk.Statistic{{Name: "Registers", Value: 40}, {Name: "Binary Size", Value: 1 << 40}}})
	// as Intel's driver tells of two programs of one kernel
	tell(vk.KernelReport{Module: "b", Workgroup: 128, SubgroupSize: 16,
		Statistics: []vk.Statistic{{Name: "Spills", Value: 0.5}, {Name: "Registers", Value: 7},
			{Name: "Spills", Value: 0}}})
	var b strings.Builder
	require.NoError(t, f.write(&b))
	require.Equal(t, `kernel,constants,workgroup,subgroup,Registers,Binary Size,Spills
a,KIND=2 TILE=4,64,32,40,1099511627776,
b,,128,16,7,,0.5 0
`, b.String())
}
