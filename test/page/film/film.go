// Film makes a moving picture of a trace's page, by headless Chromium: a GIF for README.md ("make film").
//
//	film PAGE FILE.gif
package main

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/png"
	"log"
	"os"
	"path/filepath"

	"github.com/chromedp/chromedp"
)

const (
	width, height = 880, 262
	frames        = 60  // at most
	pause         = 12  // hundredths of a second
	last          = 300 // of the last frame
)

// stage leaves of the page what a film shows: what happens, and the picture. It returns where the film begins, shortly
// before the first latch is taken, and where it ends.
const stage = `(() => {
	for (const e of document.querySelectorAll('aside, #times, #at, footer .row, h1')) e.style.display = 'none';
	document.querySelector('footer').style.padding = '4px 16px 0';
	document.querySelector('header').style.padding = '0 16px';
	document.body.prepend(document.querySelector('footer'));
	refresh();
	return [Math.max(0, next(i => field(i, 0) === LATCH) - 20), count];
})()`

func main() {
	if len(os.Args) != 3 {
		log.Fatal("film PAGE FILE.gif")
	}
	page, err := filepath.Abs(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox)
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	defer stop()
	ctx, quit := chromedp.NewContext(allocator)
	defer quit()
	film, err := shoot(ctx, "file://"+page)
	if err != nil {
		log.Fatal(err)
	}
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, film); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(os.Args[2], b.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d frames, %d bytes\n", len(film.Image), b.Len())
}

// shoot takes a frame every few events.
func shoot(ctx context.Context, page string) (*gif.GIF, error) {
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(width, height), chromedp.Navigate(page)); err != nil {
		return nil, err
	}
	part, err := chromedp.Run(ctx, chromedp.Evaluate[[2]int](stage))
	if err != nil {
		return nil, err
	}
	var pictures []*image.RGBA
	for i := range frames {
		moment := fmt.Sprintf("(seek(%d), 0)", part[0]+(part[1]-part[0])*(i+1)/frames)
		if _, err := chromedp.Run(ctx, chromedp.Evaluate[int](moment)); err != nil {
			return nil, err
		}
		if _, err := chromedp.Run(ctx, chromedp.Poll[chromedp.Void]("!stale")); err != nil {
			return nil, err
		}
		encoded, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
		if err != nil {
			return nil, err
		}
		decoded, err := png.Decode(bytes.NewReader(encoded))
		if err != nil {
			return nil, err
		}
		picture := image.NewRGBA(decoded.Bounds())
		draw.Draw(picture, picture.Bounds(), decoded, image.Point{}, draw.Src)
		pictures = append(pictures, picture)
	}
	return cut(pictures), nil
}

// cut makes a film of pictures. Each frame is the part that differs from the one before.
func cut(pictures []*image.RGBA) *gif.GIF {
	colours := frequent(pictures)
	film := &gif.GIF{}
	for i, p := range pictures {
		part := p.Bounds()
		if i > 0 {
			part = changed(pictures[i-1], p)
		}
		if part.Empty() {
			film.Delay[len(film.Delay)-1] += pause
			continue
		}
		frame := image.NewPaletted(part, colours)
		draw.Draw(frame, part, p, part.Min, draw.Src)
		film.Image, film.Delay = append(film.Image, frame), append(film.Delay, pause)
		film.Disposal = append(film.Disposal, gif.DisposalNone)
	}
	film.Delay[len(film.Delay)-1] = last
	return film
}

// changed returns the least rectangle outside of which two pictures are the same.
func changed(a, b *image.RGBA) (part image.Rectangle) {
	for y := range b.Bounds().Dy() {
		for x := range b.Bounds().Dx() {
			if a.RGBAAt(x, y) != b.RGBAAt(x, y) {
				part = part.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return part
}

// frequent returns the colours that most pixels have, few enough for a small file.
func frequent(pictures []*image.RGBA) (colours color.Palette) {
	pixels := map[color.RGBA]int{}
	for _, p := range pictures {
		for i := 0; i < len(p.Pix); i += 4 {
			pixels[color.RGBA{p.Pix[i], p.Pix[i+1], p.Pix[i+2], 255}]++
		}
	}
	for len(colours) < 48 && len(pixels) > 0 {
		var best color.RGBA
		most := 0
		for c, n := range pixels {
			if n > most {
				best, most = c, n
			}
		}
		colours = append(colours, best)
		delete(pixels, best)
	}
	return colours
}
