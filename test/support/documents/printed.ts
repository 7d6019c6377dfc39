import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page as BrowserPage } from 'playwright-core';
import { acrossOf, textOfCell, type Block, type Page } from './blocks.js';

/** Prints documents, and scans the prints, with a browser. */
export interface Printer {
  /** With a text layer, like PDFs of word processors. */
  pdf(page: Page): Promise<Buffer>;
  /** An image like that of a scanner: grey, slightly rotated, with specks. One per page. */
  scans(page: Page, look?: ScanLook): Promise<Buffer[]>;
  /** The scans combined: a PDF of images. */
  scannedPdf(page: Page, look?: ScanLook): Promise<Buffer>;
}

export interface ScanLook {
  /** In degrees. */
  readonly askew?: number;
  /** The number of specks per page. */
  readonly specks?: number;
  readonly format?: 'png' | 'jpeg';
}

/** A page of A4 at 300 dpi. */
const SHEET = { width: 827, height: 1169, scale: 3 };

export function printer(browser: Browser): Printer {
  return {
    pdf: (page) =>
      withPage(browser, async (tab) => {
        await show(tab, htmlOf(page));
        return tab.pdf({ format: 'A4', margin: { top: '22mm', bottom: '22mm', left: '24mm', right: '24mm' } });
      }),
    scans: (page, look) => scans(browser, page, look),
    scannedPdf: async (page, look) => {
      const pictures = await scans(browser, page, { ...look, format: 'jpeg' });
      return withPage(browser, async (tab) => {
        await show(
          tab,
          `<style>@page{margin:0;size:A4}body{margin:0}img{display:block;width:210mm;height:296.9mm;break-after:page}</style>${pictures.map((picture) => `<img src="data:image/jpeg;base64,${picture.toString('base64')}">`).join('')}`,
        );
        return tab.pdf({ preferCSSPageSize: true });
      });
    },
  };
}

async function withPage<T>(browser: Browser, use: (tab: BrowserPage) => Promise<T>): Promise<T> {
  const tab = await browser.newPage({
    viewport: { width: SHEET.width, height: SHEET.height },
    deviceScaleFactor: SHEET.scale,
  });
  try {
    return await use(tab);
  } finally {
    await tab.close();
  }
}

async function show(tab: BrowserPage, html: string): Promise<void> {
  // A page loaded from the disk may use fonts from the disk.
  await tab.goto(pathToFileURL(join(FONT, 'package.json')).href);
  await tab.setContent(html, { waitUntil: 'load' });
  await tab.evaluate(
    'document.fonts.ready.then(() => Promise.all([...document.images].map((image) => image.decode())))',
  );
}

async function scans(
  browser: Browser,
  page: Page,
  { askew = 0.4, specks = 300, format = 'png' }: ScanLook = {},
): Promise<Buffer[]> {
  return withPage(browser, async (tab) => {
    await show(tab, htmlOf(page));
    const height = Number(await tab.evaluate('document.documentElement.scrollHeight'));
    const pictures: Buffer[] = [];
    for (let top = 0; top < height; top += SHEET.height) {
      await tab.evaluate(scanned({ askew, specks, top }));
      pictures.push(await tab.screenshot({ type: format, ...(format === 'jpeg' ? { quality: 80 } : {}) }));
    }
    return pictures;
  });
}

/** The specks are deterministic, so that the tests are reproducible. */
const scanned = ({ askew, specks, top }: { askew: number; specks: number; top: number }): string => `
  document.getElementById('dirt')?.remove();
  document.documentElement.style.overflow = 'hidden';
  document.body.style.cssText += ';filter:grayscale(1) contrast(0.92) blur(0.25px);transform:translateY(-${top}px) rotate(${askew}deg)';
  const dirt = document.createElement('canvas');
  dirt.id = 'dirt'; dirt.width = ${SHEET.width}; dirt.height = ${SHEET.height};
  dirt.style.cssText = 'position:fixed;left:0;top:0;pointer-events:none';
  const pen = dirt.getContext('2d');
  let seed = 7;
  const next = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
  for (let i = 0; i < ${specks}; i++) { pen.fillStyle = 'rgba(60,60,60,' + (0.15 + next() * 0.4) + ')'; pen.fillRect(next() * dirt.width, next() * dirt.height, 0.6 + next(), 0.6 + next()); }
  document.documentElement.appendChild(dirt);
`;

const FONT = dirname(createRequire(import.meta.url).resolve('@fontsource-variable/noto-sans-sc/package.json'));
const fontCss = (): string =>
  readFileSync(join(FONT, 'index.css'), 'utf8').replaceAll(
    'url(./files/',
    `url(${pathToFileURL(join(FONT, 'files')).href}/`,
  );

function htmlOf({ language, blocks }: Page): string {
  const font =
    language === 'zh' ? "'Noto Sans SC Variable'" : "'Times New Roman','Liberation Serif','DejaVu Serif',serif";
  return `<html lang="${language}"><head><meta charset="utf-8"><style>${fontCss()}
    body{font:${language === 'zh' ? '14px/1.75' : '15px/1.45'} ${font},'Noto Sans SC Variable';margin:0;color:#000;background:#fff;text-align:${language === 'zh' ? 'justify' : 'left'}}
    @media screen{body{padding:70px 76px}}
    h1{font-size:21px;text-align:center;margin:0 0 18px} h2{font-size:1.06em;margin:12px 0 4px} p{margin:0 0 6px} table{border-collapse:collapse;width:100%;margin:8px 0} td{vertical-align:top;padding:4px 6px}
    .lines td{border:1px solid #000}</style></head><body>${blocks.map(blockHtml).join('\n')}</body></html>`;
}

function blockHtml(block: Block): string {
  switch (block.kind) {
    case 'title':
      return `<h1>${escaped(block.text)}</h1>`;
    case 'heading':
      return `<h2>${escaped(block.text)}</h2>`;
    case 'paragraph':
      return `<p style="${block.indent ? 'text-indent:2em;' : ''}${block.right ? 'text-align:right' : ''}">${escaped(block.text)}</p>`;
    case 'break':
      return '<div style="break-after:page"></div>';
    case 'table':
      return `<table class="${block.lines ? 'lines' : ''}">${block.widths ? `<colgroup>${block.widths.map((width) => `<col style="width:${width}%">`).join('')}</colgroup>` : ''}${block.rows
        .map(
          (row) =>
            `<tr>${row.map((cell) => `<td colspan="${acrossOf(cell)}">${escaped(textOfCell(cell))}</td>`).join('')}</tr>`,
        )
        .join('')}</table>`;
  }
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('\n', '<br>');
