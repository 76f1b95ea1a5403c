package alloc

import "github.com/vkds/vkds/vk"

// LimitError says that a pool or a structure would grow beyond a limit of its own, however much memory the device has.
type LimitError = vk.LimitError
