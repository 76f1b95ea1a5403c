package bench

import (
	"context"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// exporting is a dictionary whose pairs can be exported on a stream.
type exporting interface {
	exportOn(*vk.Stream, structures.DeviceExport) error
}

func (t mapTable) exportOn(s *vk.Stream, e structures.DeviceExport) error { return t.On(s).Export(e) }

func (t treeTable) exportOn(s *vk.Stream, e structures.DeviceExport) error { return t.On(s).Export(e) }

func (l lsmTable) exportOn(s *vk.Stream, e structures.DeviceExport) error { return l.On(s).Export(e) }

func (a arrayTable) exportOn(s *vk.Stream, e structures.DeviceExport) error { return a.On(s).Export(e) }

func (t mapTable) FindOn(s *vk.Stream, l structures.DeviceLookups) error { return t.On(s).Find(l) }

func (t mapTable) ApplyOn(s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error {
	return t.On(s).Apply(kind, b)
}

func (t treeTable) FindOn(s *vk.Stream, l structures.DeviceLookups) error { return t.On(s).Find(l) }

func (t treeTable) ApplyOn(s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error {
	return t.On(s).Apply(kind, b)
}

func (t treeTable) queries(s *vk.Stream) structures.QueriesOnStream { return t.On(s) }

func (l lsmTable) FindOn(s *vk.Stream, q structures.DeviceLookups) error { return l.On(s).Find(q) }

func (l lsmTable) UpdateOn(ctx context.Context, s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error {
	return l.On(s).Update(ctx, kind, b)
}

func (l lsmTable) queries(s *vk.Stream) structures.QueriesOnStream { return l.On(s) }

func (a arrayTable) FindOn(s *vk.Stream, l structures.DeviceLookups) error { return a.On(s).Find(l) }

func (a arrayTable) UpdateOn(ctx context.Context, s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error {
	return a.On(s).Update(ctx, kind, b)
}

func (a arrayTable) queries(s *vk.Stream) structures.QueriesOnStream { return a.On(s) }

func (t snapshotTable) FindOn(s *vk.Stream, l structures.DeviceLookups) error {
	return t.at.On(s).Find(l)
}

func (t snapshotTable) queries(s *vk.Stream) structures.QueriesOnStream { return t.at.On(s) }
