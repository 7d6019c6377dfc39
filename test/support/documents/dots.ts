import type { Browser } from 'playwright-core';

/** A greyscale image, row by row, and the same as JPEGs of some rows each. */
export interface Dots {
  readonly width: number;
  readonly height: number;
  readonly grey: Buffer;
  readonly jpegs: readonly Buffer[];
}

/** The upper `part` of a PNG, scaled down, decoded by a browser. */
export async function dotsOf(
  browser: Browser,
  png: Buffer,
  { scale, part, rows }: { scale: number; part: number; rows: number },
): Promise<Dots> {
  const tab = await browser.newPage();
  try {
    const { width, height, grey, jpegs } = await tab.evaluate<{
      width: number;
      height: number;
      grey: string;
      jpegs: string[];
    }>(`(async () => {
      const image = new Image();
      image.src = 'data:image/png;base64,${png.toString('base64')}';
      await image.decode();
      const canvas = (width, height, top, from, scale) => {
        const made = Object.assign(document.createElement('canvas'), { width, height });
        const pen = made.getContext('2d');
        pen.imageSmoothingQuality = 'high';
        pen.drawImage(from, 0, -top, from.width * scale, from.height * scale);
        return { made, pen };
      };
      const width = Math.floor(image.width * ${scale}), height = Math.floor(image.height * ${scale * part});
      const { made, pen } = canvas(width, height, 0, image, ${scale});
      const { data } = pen.getImageData(0, 0, width, height);
      let grey = '';
      for (let i = 0; i < data.length; i += 4) grey += String.fromCharCode(data[i]);
      const jpegs = [];
      for (let top = 0; top < height; top += ${rows}) jpegs.push(canvas(width, Math.min(${rows}, height - top), top, made, 1).made.toDataURL('image/jpeg', 0.9).split(',')[1]);
      return { width, height, grey: btoa(grey), jpegs };
    })()`);
    return {
      width,
      height,
      grey: Buffer.from(grey, 'base64'),
      jpegs: jpegs.map((jpeg) => Buffer.from(jpeg, 'base64')),
    };
  } finally {
    await tab.close();
  }
}
