// Removes from a production node_modules what an image does not need: `node docker/trim.mjs node_modules`.
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('usage: node trim.mjs FOLDER');

const remove = (...path) => rmSync(join(folder, ...path), { recursive: true, force: true });

// The base image has Node.js. `npm ci --omit=optional` would also leave out the native parts of other packages.
for (const name of readdirSync(folder)) if (/^node-(bin-)?(linux|darwin|win)-(x64|arm64)$/.test(name)) remove(name);
remove('.bin');

// An optional package of pdfjs-dist: native code, which our reader of PDFs replaces by an empty module where it is installed.
for (const name of readdirSync(join(folder, '@napi-rs'))) if (name.startsWith('canvas')) remove('@napi-rs', name);

// better-sqlite3 brings the binaries of every platform, and its sources.
const prebuilds = readdirSync(join(folder, 'better-sqlite3', 'prebuilds'));
const ours = `${process.platform}-${process.arch}.node`;
if (!prebuilds.includes(ours)) throw new Error(`better-sqlite3 has no binary for this platform (${ours})`);
for (const name of prebuilds) if (name !== ours) remove('better-sqlite3', 'prebuilds', name);
remove('better-sqlite3', 'deps');
remove('better-sqlite3', 'src');
