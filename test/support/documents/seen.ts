import { drawnOn } from '../../../data-plane-agent/plane/files/text/pdf-drawing.js';
import { pictureOf } from '../../../data-plane-agent/plane/files/text/pdf-picture.js';
import { opened } from '../../../data-plane-agent/plane/files/text/pdf.js';
import { pagesOf } from '../../../data-plane-agent/plane/files/text/tiff.js';
import { pdfOfPages } from '../../../data-plane-agent/plane/files/text/tiff-pdf.js';

export interface Seen {
  readonly width: number;
  readonly height: number;
  /** From 0, black, to 255. */
  shade(x: number, y: number): number;
}

/** The pages of a TIFF as they are passed to character recognition. */
export async function seen(tiff: Buffer): Promise<Seen[]> {
  const document = await opened(
    pdfOfPages(
      pagesOf(tiff).map((page) => {
        if (page instanceof Error) throw page;
        return page;
      }),
    ),
  );
  try {
    const pages: Seen[] = [];
    for (let number = 1; number <= document.numPages; number++) {
      const page = await document.getPage(number);
      pages.push(seenIn((await pictureOf(page, await drawnOn(page))) ?? Buffer.from('P5\n0 0\n255\n')));
      page.cleanup();
    }
    return pages;
  } finally {
    await document.loadingTask.destroy();
  }
}

/** A portable greymap (PGM). */
function seenIn(map: Buffer): Seen {
  const [, width = 0, height = 0] = /^P5\n(\d+) (\d+)\n255\n/.exec(map.toString('latin1', 0, 40))?.map(Number) ?? [];
  const dots = map.subarray(map.length - width * height);
  return { width, height, shade: (x, y) => dots[y * width + x] ?? Number.NaN };
}
