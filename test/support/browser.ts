import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, join } from 'node:path';
import { chromium, type Browser } from 'playwright-core';
import { skip } from './skip.js';

/**
 * To be called in a `describe` that needs a browser: starts Debian's Chromium without a window, or skips the suite
 * where there is none (which REQUIRE_SERVICES=1 makes a failure). `CHROMIUM` names another binary.
 */
export function needsBrowser(): () => Browser {
  let browser: Browser | undefined;
  before('a browser', async function () {
    this.timeout(60_000); // its first start on a busy machine
    const executablePath = process.env['CHROMIUM'] ?? found('chromium') ?? found('chromium-browser');
    if (executablePath === undefined) skip(this, 'there is no chromium on the PATH, and CHROMIUM names none');
    // As root, and in containers, Chromium's sandbox cannot be had; it opens our own page only.
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
  });
  after('end the browser', () => browser?.close());
  return () => {
    if (!browser) throw new Error('the browser runs in hooks and tests, once its suite has begun');
    return browser;
  };
}

/** One page on `http://localhost:<port>`, which browsers trust as they trust https. */
export async function servePage(html: string): Promise<{ readonly origin: string; stop(): Promise<void> }> {
  const server: Server = createServer(
    (_request, answer) => void answer.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end(html),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // of a server on a port, not on a pipe
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
