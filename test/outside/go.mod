module example.com/outside

go 1.25.0

require github.com/vkds/vkds v0.0.0

require (
	github.com/tidwall/btree v1.8.2 // indirect
	github.com/vulkan-go/vulkan v0.0.0-20221209234627-c0a353ae26c8 // indirect
	golang.org/x/sync v0.22.0 // indirect
	golang.org/x/sys v0.47.0 // indirect
)

replace github.com/vkds/vkds => ../..
