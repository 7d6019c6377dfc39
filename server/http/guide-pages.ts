import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { marked } from 'marked';
import { documents, escaped, type Page } from '../../data-plane-agent/base/http/pages.js';
import { packageFolderOf } from '../../data-plane-agent/base/package-version.js';

/** The guide pages in their order, each with its Markdown file in `docs/` and its title. */
export const GUIDE = [
  { name: 'quick-start', file: 'guide/quick-start.md', title: 'Quick start' },
  { name: 'signing-in', file: 'guide/signing-in.md', title: 'Signing in' },
  { name: 'errors', file: 'guide/errors.md', title: 'Errors' },
  { name: 'lists', file: 'guide/lists.md', title: 'Lists and pages' },
  { name: 'retries-and-versions', file: 'guide/retries-and-versions.md', title: 'Retries and versions' },
  { name: 'time-and-money', file: 'guide/time-and-money.md', title: 'Time and money' },
  { name: 'api-conventions', file: 'api-conventions.md', title: 'API conventions' },
] as const;

export const guidePath = (name: string): string => `/docs/guide/${name}`;

/** The address of the service in the Markdown, which is also read without a server. */
const WRITTEN_ADDRESS = 'http://localhost:8080';

/**
 * The guide pages, read from the Markdown in `docs/` when the server starts and rendered at the first request, with the
 * address of this service in their commands. Their policy allows no scripts.
 */
export function guidePages({
  productName,
  publicUrl,
}: {
  readonly productName: string;
  readonly publicUrl: string;
}): readonly Page[] {
  const folder = join(packageFolderOf(import.meta.url), 'docs');
  const markdownOf = (file: string): string =>
    readFileSync(join(folder, file), 'utf8').replaceAll(WRITTEN_ADDRESS, () => publicUrl);
  const pages = GUIDE.map(({ name, file, title }) => {
    const markdown = markdownOf(file);
    return {
      path: guidePath(name),
      type: 'text/html; charset=utf-8',
      body: () => html({ productName, name, title, content: rendered(markdown) }),
    };
  });
  return documents([...pages, { path: '/docs/guide.css', type: 'text/css; charset=utf-8', body: STYLE }], POLICY);
}

const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Converts links between files to links between pages, and lets tables scroll separately on narrow screens. */
const rendered = (markdown: string): string =>
  marked
    .parse(markdown, { async: false })
    .replaceAll(/href="([^":#]+)\.md(#[^"]*)?"/g, (_, path: string, anchor = '') => {
      const name = path.split('/').at(-1);
      return `href="${GUIDE.some((page) => page.name === name) ? guidePath(name ?? '') : '/docs'}${String(anchor)}"`;
    })
    .replaceAll('<pre>', '<pre tabindex="0">')
    .replaceAll('<table>', '<div class="table" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>');

const html = ({
  productName,
  name,
  title,
  content,
}: {
  productName: string;
  name: string;
  title: string;
  content: string;
}): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)} · ${escaped(productName)} API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/guide.css">
</head>
<body>
<nav aria-label="Pages">
<a href="/docs">Reference</a>
${GUIDE.map((page) => `<a href="${guidePath(page.name)}"${page.name === name ? ' aria-current="page"' : ''}>${escaped(page.title)}</a>`).join('\n')}
</nav>
<main>
${content}
</main>
</body>
</html>
`;

const STYLE = `:root { color-scheme: light dark; --text: #333; --back: #fff; --quiet: #f3f5f7; --line: #d5dbe0; --link: #1c6e8c; --nav: #22303c; }
@media (prefers-color-scheme: dark) { :root { --text: #dde3e9; --back: #14191f; --quiet: #1b222a; --line: #3c4854; --link: #6cc0e0; --nav: #0e1216; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--text); font: 16px/1.6 system-ui, sans-serif; overflow-wrap: anywhere; }
nav { display: flex; flex-wrap: wrap; gap: 4px 20px; padding: 12px 20px; background: var(--nav); }
nav a { color: #fff; text-decoration: none; }
nav a[aria-current], nav a:hover { text-decoration: underline; }
main { max-width: 860px; margin: 0 auto; padding: 8px 20px 60px; }
main a { color: var(--link); }
pre, .table { overflow-x: auto; }
pre { padding: 12px; background: var(--quiet); border: 1px solid var(--line); border-radius: 4px; font-size: 14px; }
pre code { overflow-wrap: normal; }
:not(pre) > code { background: var(--quiet); padding: 1px 4px; border-radius: 3px; }
table { border-collapse: collapse; min-width: 480px; }
th, td { padding: 6px 12px; border: 1px solid var(--line); text-align: left; vertical-align: top; }
`;
