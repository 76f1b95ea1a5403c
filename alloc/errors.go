package alloc

import "github.com/vkds/vkds/vk"

// LimitError says that a pool or a structure would grow beyond a limit of its own, not of the device's memory.
type LimitError = vk.LimitError
