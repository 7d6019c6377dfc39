import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, join } from 'node:path';
import { chromium, type Browser } from 'playwright-core';
import { skip } from './skip.js';

/**
 * Call this in a `describe` that needs a browser: starts Debian's Chromium headless, or skips the suite if it is not
 * installed (a failure with REQUIRE_SERVICES=1). `CHROMIUM` sets another binary.
 */
export function needsBrowser(): () => Browser {
  let browser: Browser | undefined;
  before('a browser', async function () {
    this.timeout(180_000); // the first start may be slow on a busy machine
    const executablePath = process.env['CHROMIUM'] ?? found('chromium') ?? found('chromium-browser');
    if (executablePath === undefined) skip(this, 'there is no chromium on the PATH, and CHROMIUM names none');
    // Chromium's sandbox does not work as root and in containers; only our own pages are opened.
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
  });
  after('close the browser', () => browser?.close());
  return () => {
    if (!browser) throw new Error('the browser runs in hooks and tests, once its suite has begun');
    return browser;
  };
}

/** Serves a page on `http://localhost:<port>`, which browsers treat as secure like https. */
export async function servePage(html: string): Promise<{ readonly origin: string; stop(): Promise<void> }> {
  const server: Server = createServer(
    (_request, answer) => void answer.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end(html),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // the server listens on a port, not a pipe
  return {
    origin: `http://localhost:${port}`,
    stop: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error ? reject(error) : resolve()));
        server.closeAllConnections();
      }),
  };
}

const found = (name: string): string | undefined =>
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find(existsSync);
