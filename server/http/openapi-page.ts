import { sendDocument, type Page } from '../../data-plane-agent/base/http/pages.js';
import { sha256Hex } from '../../data-plane-agent/base/secrets.js';
import { yielding } from '../../data-plane-agent/base/yielding.js';
import type { Endpoints } from './mount.js';
import type { Examples } from './openapi-examples.js';
import type { About } from './openapi.js';
import { PREFIX } from './prefix.js';

/** As `About`; the examples are loaded for the first document. */
export interface PageAbout extends Omit<About, 'examples'> {
  readonly examples: () => Promise<Examples>;
}

/**
 * Serves the document under the prefix. It takes long to generate and megabytes to hold, and most processes are never
 * asked for it: the first request makes it, while others are answered.
 */
export function openapiPage(endpoints: Endpoints, about: PageAbout): Page {
  return {
    path: `${PREFIX}/openapi.json`,
    answer: async (ctx) =>
      sendDocument(ctx, { type: 'application/json; charset=utf-8', ...(await documentOf(endpoints, about)) }),
  };
}

interface Generated {
  readonly body: Buffer;
  readonly etag: string;
}

/** Servers of one process, as in tests, have the same document. Requests that arrive meanwhile wait for the same one. */
function documentOf(endpoints: Endpoints, { productName, version, examples }: PageAbout): Promise<Generated> {
  const last = LAST.get(endpoints);
  if (last?.productName === productName && last.version === version && last.examples === examples) return last.made;
  const made = generated(endpoints, { productName, version, examples });
  LAST.set(endpoints, { productName, version, examples, made });
  // Perhaps no file could be opened at this moment: the next request tries again.
  made.catch(() => LAST.delete(endpoints));
  return made;
}

const LAST = new WeakMap<Endpoints, PageAbout & { readonly made: Promise<Generated> }>();

async function generated(endpoints: Endpoints, { examples, ...about }: PageAbout): Promise<Generated> {
  const { openapiInSteps } = await import('./openapi.js');
  const steps = openapiInSteps(endpoints, { ...about, examples: await examples() });
  const yieldIfDue = yielding();
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) await yieldIfDue();
  await yieldIfDue();
  const body = Buffer.from(JSON.stringify(step.value));
  return { body, etag: `"${sha256Hex(body).slice(0, 32)}"` };
}
