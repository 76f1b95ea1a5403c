// Package xserver starts an X server without a screen, Xvfb, for tests of windows: what it shows can be read, and keys
// and the pointer can be moved as a user does.
package xserver

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Server is a running server, and a connection to it. One goroutine at a time may use it.
type Server struct {
	Display string // as the variable DISPLAY names it

	process   *exec.Cmd
	conn      net.Conn
	in        *bufio.Reader
	root      uint32
	keycodes  [2]byte // the first and the last one
	xtest     byte    // the extension's opcode
	utf8Name  uint32  // atoms
	utf8      uint32
	keysyms   map[rune]key
	shiftCode byte
}

// key is a key of the keyboard.
type key struct {
	code    byte
	shifted bool
}

// Start starts a server with a screen of 1600 by 1200 pixels.
func Start() (*Server, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer read.Close()
	s := &Server{process: exec.Command("Xvfb", "-displayfd", "3", "-screen", "0", "1600x1200x24", "-ac",
		"-nolisten", "tcp", "-terminate")} // it ends with its last client
	s.process.ExtraFiles = []*os.File{write}
	if err := s.process.Start(); err != nil {
		return nil, fmt.Errorf("%w: run \"make view-deps\"", err)
	}
	write.Close()
	number, err := bufio.NewReader(read).ReadString('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("no display number from Xvfb: %w", err), s.Close())
	}
	s.Display = ":" + strings.TrimSpace(number)
	if err := s.connect(strings.TrimSpace(number)); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Close ends the server.
func (s *Server) Close() error {
	if s.conn != nil {
		s.conn.Close()
	}
	_ = s.process.Process.Kill()
	_ = s.process.Wait() // killed
	return nil
}

var order = binary.LittleEndian

// connect opens a connection. The numbers here and below are those of the X protocol, X11R7.
func (s *Server) connect(number string) (err error) {
	if s.conn, err = net.Dial("unix", "/tmp/.X11-unix/X"+number); err != nil {
		return err
	}
	s.in = bufio.NewReader(s.conn)
	if _, err := s.conn.Write([]byte{'l', 0, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0}); err != nil {
		return err
	}
	var head [8]byte
	if _, err := io.ReadFull(s.in, head[:]); err != nil {
		return err
	}
	body := make([]byte, 4*int(order.Uint16(head[6:])))
	if _, err := io.ReadFull(s.in, body); err != nil {
		return err
	}
	if head[0] != 1 {
		return fmt.Errorf("the X server refuses: %q", body)
	}
	vendor, formats := int(order.Uint16(body[16:])), int(body[21])
	s.keycodes = [2]byte{body[26], body[27]}
	s.root = order.Uint32(body[32+(vendor+3)&^3+8*formats:])
	extension, err := s.ask(98, 0, named("XTEST"))
	if err != nil {
		return err
	}
	if s.xtest = extension[9]; extension[8] == 0 {
		return errors.New("the X server has no XTEST")
	}
	if s.utf8Name, err = s.atom("_NET_WM_NAME"); err != nil {
		return err
	}
	if s.utf8, err = s.atom("UTF8_STRING"); err != nil {
		return err
	}
	return s.keyboard()
}

func named(name string) []byte {
	b := order.AppendUint16(nil, uint16(len(name)))
	b = append(append(b, 0, 0), name...)
	return append(b, make([]byte, -len(name)&3)...)
}

func (s *Server) atom(name string) (uint32, error) {
	answer, err := s.ask(16, 0, named(name))
	if err != nil {
		return 0, err
	}
	return order.Uint32(answer[8:]), nil
}

// tell sends a request.
func (s *Server) tell(opcode, detail byte, body []byte) error {
	b := order.AppendUint16([]byte{opcode, detail}, uint16(1+len(body)/4))
	_, err := s.conn.Write(append(b, body...))
	return err
}

// ask sends a request that has an answer, and returns that.
func (s *Server) ask(opcode, detail byte, body []byte) ([]byte, error) {
	if err := s.tell(opcode, detail, body); err != nil {
		return nil, err
	}
	for {
		answer := make([]byte, 32)
		if _, err := io.ReadFull(s.in, answer); err != nil {
			return nil, err
		}
		switch answer[0] {
		case 0:
			return nil, fmt.Errorf("error %d of the X server, about request %d", answer[1], answer[10])
		case 1:
			rest := make([]byte, 4*int(order.Uint32(answer[4:])))
			_, err := io.ReadFull(s.in, rest)
			return append(answer, rest...), err
		}
	}
}

func words(all ...uint32) (b []byte) {
	for _, w := range all {
		b = order.AppendUint32(b, w)
	}
	return b
}

// keyboard reads which keys have which characters: the keysyms of Latin-1 are the characters themselves.
func (s *Server) keyboard() error {
	first, count := s.keycodes[0], s.keycodes[1]-s.keycodes[0]+1
	answer, err := s.ask(101, 0, []byte{first, count, 0, 0})
	if err != nil {
		return err
	}
	each := int(answer[1])
	s.keysyms = map[rune]key{}
	for i := range int(count) {
		for column := range min(each, 2) {
			symbol := rune(order.Uint32(answer[32+4*(i*each+column):]))
			if symbol == 0xffe1 && s.shiftCode == 0 {
				s.shiftCode = first + byte(i)
			}
			if _, known := s.keysyms[symbol]; !known && symbol != 0 {
				s.keysyms[symbol] = key{first + byte(i), column == 1}
			}
		}
	}
	return nil
}

// Keys without a character, as keysyms.
const (
	Escape rune = 0xff1b
	Home   rune = 0xff50
	Left   rune = 0xff51
	Up     rune = 0xff52
	Right  rune = 0xff53
	Down   rune = 0xff54
)

// What XTEST can do.
const (
	keyPress      = 2
	keyRelease    = 3
	buttonPress   = 4
	buttonRelease = 5
	motion        = 6
)

func (s *Server) fake(kind, detail byte, x, y int) error {
	b := []byte{kind, detail, 0, 0}
	b = append(b, words(0, s.root, 0, 0)...)
	b = order.AppendUint16(order.AppendUint16(b, uint16(x)), uint16(y))
	return s.tell(s.xtest, 2, append(b, make([]byte, 8)...))
}

// Type presses and releases a key: a character, or one of the keys above.
func (s *Server) Type(k rune) error {
	found, ok := s.keysyms[k]
	if !ok {
		return fmt.Errorf("the keyboard has no key %#x", k)
	}
	all := []func() error{
		func() error { return s.fake(keyPress, found.code, 0, 0) },
		func() error { return s.fake(keyRelease, found.code, 0, 0) },
	}
	if found.shifted {
		all = append([]func() error{func() error { return s.fake(keyPress, s.shiftCode, 0, 0) }},
			append(all, func() error { return s.fake(keyRelease, s.shiftCode, 0, 0) })...)
	}
	for _, do := range all {
		if err := do(); err != nil {
			return err
		}
	}
	return nil
}

// Move moves the pointer to a pixel of the screen.
func (s *Server) Move(x, y int) error { return s.fake(motion, 0, x, y) }

// Press presses or releases a button of the mouse, from 1 on. 4 is the wheel's way up, and 5 the way down.
func (s *Server) Press(button byte, down bool) error {
	if down {
		return s.fake(buttonPress, button, 0, 0)
	}
	return s.fake(buttonRelease, button, 0, 0)
}

// Window returns the window whose title has a text, as soon as it is shown and gets the keys that are typed. It gives
// up after a minute.
func (s *Server) Window(text string) (id uint32, err error) {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		tree, err := s.ask(15, 0, words(s.root))
		if err != nil {
			return 0, err
		}
		for i := range int(order.Uint16(tree[16:])) {
			id := order.Uint32(tree[32+4*i:])
			about, err := s.ask(3, 0, words(id))
			const viewable = 2
			if err != nil || about[26] != viewable {
				continue // it may be gone
			}
			focus, err := s.ask(43, 0, nil)
			if err != nil {
				return 0, err
			}
			if order.Uint32(focus[8:]) != id {
				continue
			}
			if title, err := s.Title(id); err == nil && strings.Contains(title, text) {
				return id, nil
			}
		}
	}
	return 0, fmt.Errorf("no window has the title %q", text)
}

// Title returns a window's title.
func (s *Server) Title(window uint32) (string, error) {
	answer, err := s.ask(20, 0, words(window, s.utf8Name, s.utf8, 0, 1<<16))
	if err != nil {
		return "", err
	}
	return string(answer[32 : 32+order.Uint32(answer[16:])]), nil
}

// Resize gives a window another size, in pixels.
func (s *Server) Resize(window uint32, width, height int) error {
	const widthAndHeight = 0x4 | 0x8
	return s.tell(12, 0, words(window, widthAndHeight, uint32(width), uint32(height)))
}

// Unmap hides a window, and Map shows it again.
func (s *Server) Unmap(window uint32) error { return s.tell(10, 0, words(window)) }

// Map shows a window.
func (s *Server) Map(window uint32) error { return s.tell(8, 0, words(window)) }

// Picture returns what the screen shows of a window.
func (s *Server) Picture(window uint32) (*image.RGBA, error) {
	about, err := s.ask(14, 0, words(window))
	if err != nil {
		return nil, err
	}
	wide, high := order.Uint16(about[16:]), order.Uint16(about[18:])
	body := words(window, 0)
	body = order.AppendUint16(order.AppendUint16(body, wide), high)
	const pixmap = 2
	answer, err := s.ask(73, pixmap, append(body, words(^uint32(0))...))
	if err != nil {
		return nil, err
	}
	picture := image.NewRGBA(image.Rect(0, 0, int(wide), int(high)))
	for i := range int(wide) * int(high) {
		b := answer[32+4*i:]
		picture.SetRGBA(i%int(wide), i/int(wide), color.RGBA{b[2], b[1], b[0], 255})
	}
	return picture, nil
}
