import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { onFirstUse } from '../../data-plane-agent/base/on-first-use.js';
import { sha256Hex } from '../../data-plane-agent/base/secrets.js';
import { PAGE_SCRIPT, PAGE_STYLE } from './docs-style.js';
import { PREFIX } from './prefix.js';
import { documents, escaped, type Page } from '../../data-plane-agent/base/http/pages.js';

const VIEWER = 'openapi-explorer/dist/browser/openapi-explorer.min.js';

/**
 * The reference page: the OpenAPI viewer from npm with our own document. The content security policy allows only this
 * origin; inline styles are allowed because the viewer sets style attributes.
 */
export function docsPages({ productName }: { productName: string }): readonly Page[] {
  const files = [
    { path: '/docs', type: 'text/html; charset=utf-8', body: () => html(productName, viewer().version) },
    { path: '/docs/viewer.css', type: 'text/css; charset=utf-8', body: PAGE_STYLE },
    { path: '/docs/page.js', type: 'text/javascript; charset=utf-8', body: PAGE_SCRIPT },
    { path: '/docs/viewer.js', type: 'text/javascript; charset=utf-8', body: () => viewer().script },
  ];
  return documents(files, POLICY);
}

const viewer = onFirstUse(() => {
  const script = readFileSync(createRequire(import.meta.url).resolve(VIEWER));
  return { script, version: sha256Hex(script).slice(0, 16) };
});

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const html = (productName: string, version: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(productName)} API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/viewer.css">
<script type="module" src="/docs/viewer.js?v=${version}"></script>
<script type="module" src="/docs/page.js"></script>
</head>
<body>
<header><h1>${escaped(productName)} API</h1></header>
<openapi-explorer spec-url="${PREFIX}/openapi.json" hide-console="false" hide-defaults="true" collapse="true" nav-bg-color="#22303c" primary-color="#1c6e8c"></openapi-explorer>
</body>
</html>
`;
