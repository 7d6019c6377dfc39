import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { needsBrowser } from '../support/browser.js';
import { startServer, type TestServer } from '../support/server.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const VIEWER = "document.querySelector('openapi-explorer')";
/** Of each kind of thing one that has much: a receipt with its body, a long list of parameters, a large record. */
const PLACES = [
  '',
  '#?route=patch-/payments/-paymentId-/receipt',
  '#?route=get-/contracts',
  '#?route=cmp--schemas-contract',
];

interface Watched {
  readonly page: Page;
  /** What the console and the page had to complain of since it was asked last. */
  complaints(): readonly string[];
}

describe('the reference page, as people use it', () => {
  const browser = needsBrowser();
  let server: TestServer;
  before(async () => {
    server = await startServer();
  });
  after(() => server?.stop());

  describe('opens without a complaint', () => {
    let opened: Watched;
    let links: readonly string[];
    before(async () => {
      opened = await open(browser(), { url: `${server.url}/docs` });
      links = await opened.page.evaluate<string[]>(
        `[...${VIEWER}.shadowRoot.querySelectorAll('.nav-bar-path')].map((link) => link.id)`,
      );
    });
    after(() => opened?.page.close());

    it('every operation', async () => {
      const { body } = await server.client.get<{ paths: Record<string, object> }>('/openapi.json');
      const operations = Object.values(body.paths).flatMap((methods) => Object.keys(methods)).length;
      const mine = links.filter((id) => !id.startsWith('link-cmp--'));
      expect(mine).to.have.length(operations);
      expect(await openEach(opened, mine)).to.deep.equal([]);
    });

    // The viewer draws the schemas all at once, whichever of them is opened.
    it('every schema', async () => {
      const { body } = await server.client.get<{ components: { schemas: object } }>('/openapi.json');
      const mine = links.filter((id) => id.startsWith('link-cmp--schemas-'));
      expect(mine).to.have.length(Object.keys(body.components.schemas).length);
      expect(await openEach(opened, [...mine.slice(0, 1), ...mine.slice(-1)])).to.deep.equal([]);
      expect(await opened.page.evaluate(notShown(JSON.stringify(mine)))).to.deep.equal([]);
    });
  });

  for (const [width, height] of [
    [1280, 900],
    [390, 844],
  ] as const)
    for (const colorScheme of ['light', 'dark'] as const)
      it(`shuts nobody out and is never too wide: ${width} pixels, ${colorScheme}`, async () => {
        const { page, complaints } = await open(browser(), { url: `${server.url}/docs`, width, height, colorScheme });
        await page.evaluate(AXE);
        for (const place of PLACES) {
          await page.evaluate(`location.hash = ${JSON.stringify(place || '#?route=overview')}`);
          await page.evaluate(SETTLED);
          expect(await page.evaluate(TOO_WIDE), place).to.deep.equal([]);
          // The other scheme has the same elements in other colours, and colours are looked at where they are in view.
          if (colorScheme === 'dark') await page.evaluate(WITHOUT_OTHER_SCHEMAS);
          expect(await page.evaluate(SERIOUS), place).to.deep.equal([]);
        }
        const [red = 0, green = 0, blue = 0] = await page.evaluate<number[]>(
          `getComputedStyle(${VIEWER}).backgroundColor.match(/\\d+/g).map(Number)`,
        );
        expect(red + green + blue > 3 * 128).to.equal(colorScheme === 'light');
        expect(complaints()).to.deep.equal([]);
        await page.close();
      });
});

async function open(
  browser: Browser,
  {
    url,
    width = 1280,
    height = 900,
    colorScheme = 'light',
  }: { url: string; width?: number; height?: number; colorScheme?: 'light' | 'dark' },
): Promise<Watched> {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme, locale: 'en-GB' });
  const heard: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') heard.push(message.text());
  });
  page.on('pageerror', (error) => heard.push(error.stack ?? error.message));
  await page.goto(url);
  await page.getByText('Contracts').first().waitFor({ state: 'attached' });
  await page.evaluate(SETTLED);
  return { page, complaints: () => heard.splice(0) };
}

/** What it complained of, and what was not shown. */
async function openEach({ page, complaints }: Watched, ids: readonly string[]): Promise<readonly string[]> {
  const unseen = await page.evaluate<string[]>(`(async () => {
    const viewer = ${VIEWER};
    const unseen = [];
    for (const id of ${JSON.stringify(ids)}) {
      viewer.shadowRoot.getElementById(id).click();
      await viewer.updateComplete;
      await new Promise((done) => setTimeout(done));
      unseen.push(...${notShown('[id]')});
    }
    return unseen;
  })()`);
  return [...unseen, ...complaints()];
}

/** An expression: those of the links, given as an expression too, whose operation or schema is not shown. */
const notShown = (ids: string): string => `${ids}.filter((id) => {
  const shown = ${VIEWER}.shadowRoot.getElementById(id.slice('link-'.length));
  const schema = shown?.querySelector('schema-table, schema-tree');
  return !shown?.innerText.trim() || (id.startsWith('link-cmp--') && !schema?.shadowRoot.textContent.trim());
})`;

/** The viewer has drawn what it has to draw, fonts and all. */
const SETTLED = `(async () => {
  await ${VIEWER}.updateComplete;
  for (let i = 0; i < 3; i++) await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
})()`;

/** The viewer draws all schemas below each other, which takes axe ten seconds. */
const WITHOUT_OTHER_SCHEMAS = `[...${VIEWER}.shadowRoot.querySelectorAll('.expanded-endpoint-component')]
  .filter(({ id }) => !location.hash.endsWith(id))
  .forEach((other) => other.remove())`;

/** Without the costly rule on landmarks, whose findings are moderate. */
const SERIOUS = `axe.run(document, { resultTypes: ['violations'], rules: { region: { enabled: false } } }).then(({ violations }) => violations
  .filter(({ impact }) => impact === 'serious' || impact === 'critical')
  .map(({ id, nodes }) => id + ': ' + nodes.map(({ target, failureSummary }) => target.flat().join(' ') + ' ' + failureSummary).join('; ')))`;

/** The page, and the part of it that scrolls: whatever sticks out at its right is cut off or must be scrolled to. */
const TOO_WIDE = `[document.documentElement, ${VIEWER}.shadowRoot.querySelector('main')]
  .filter((part) => part.scrollWidth > part.clientWidth)
  .map((part) => part.tagName + ' ' + part.scrollWidth + ' > ' + part.clientWidth)`;
