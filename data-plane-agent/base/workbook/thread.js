// @ts-check
import { parentPort, workerData } from 'node:worker_threads';
import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate';
import { readSheet } from 'read-excel-file/universal';
import { postRows } from '../post-rows.js';

/*
 * The worker in which `read-workbook.ts` unpacks and reads a workbook: parsing a sheet is synchronous and would block
 * the process, and running out of memory or time ends only this worker. It is JavaScript because a worker loads its
 * file from disk as it is, and the tests run from source.
 */

/** @type {{ bytes: Uint8Array, sheetName: string | null, maxRow: number, maxColumn: number }} */
const { bytes, sheetName, maxRow, maxColumn } = workerData;

const WANTED =
  /^(\[Content_Types\]\.xml|xl\/(_rels\/workbook\.xml\.rels|workbook\.xml|styles\.xml|sharedStrings\.xml|worksheets\/[^/]+\.xml))$/;
const CELL = /<(?:\w+:)?c(?=[\s/>])([^>]*?)(\/?)>/g;
const ROW = /<(?:\w+:)?row\s[^>]*?\br=["'](\d+)["']/g;
/** The limit of spreadsheet programs. */
const LAST_ROW = 1_048_576;
const ERROR_CELL = /(<(?:\w+:)?c\s[^>]*?\bt=)["']e["']/g;
const UNCALCULATED =
  /<((?:\w+:)?c)\s[^>]*?\br=["']([A-Z]+\d+)["'][^>]*>\s*<(?:\w+:)?f\b(?:[^>]*\/>|[^>]*>[^<]*<\/(?:\w+:)?f>)\s*<\/(?:\w+:)?c>/g;

/** The reason why a workbook is refused. */
class Refusal extends Error {
  /** @override */
  name = 'Refusal';
}

try {
  const { parts, date1904 } = prepared(bytes);
  const rows = await readSheet(/** @type {ArrayBuffer} */ (zipSync(parts, { level: 0 }).buffer), sheetName ?? 1);
  if (!Array.isArray(rows)) throw new Refusal('the sheet has no cells');
  await postRows(rows.map((row) => row.map(plain)));
  post({ done: { date1904 } });
} catch (error) {
  post({ refused: reasonOf(error) });
}

/** @param {unknown} message */
function post(message) {
  parentPort?.postMessage(message);
}

/** The parts that the reader uses, with cells that it would silently skip made visible. */
function prepared(/** @type {Uint8Array} */ archive) {
  const parts = unzipSync(archive, { filter: ({ name }) => WANTED.test(name) });
  const types = textOf(parts['[Content_Types].xml']);
  if (!parts['xl/workbook.xml']) throw new Refusal('it is not an .xlsx workbook');
  if (types.includes('macroEnabled')) throw new Refusal('workbooks with macros are not supported; save it as .xlsx');
  for (const [name, part] of Object.entries(parts)) {
    const xml = textOf(part);
    // The reader never resolves entities; only crafted documents declare them.
    if (xml.includes('<!DOCTYPE') || xml.includes('<!ENTITY')) throw new Refusal('it declares XML entities');
    // Any part may be referenced as the sheet.
    parts[name] = strToU8(visible(xml));
  }
  return {
    parts,
    date1904: /<(?:\w+:)?workbookPr\b[^>]*\bdate1904="(?:1|true)"/.test(textOf(parts['xl/workbook.xml'])),
  };
}

/**
 * The reader treats error cells and formulas that were never calculated as empty, which would silently lose amounts.
 */
function visible(/** @type {string} */ xml) {
  checkBounds(xml);
  return xml
    .replaceAll(UNCALCULATED, (_cell, tag, address) => `<${tag} r="${address}" t="str"><v>#VALUE!</v></${tag}>`)
    .replaceAll(ERROR_CELL, '$1"str"');
}

/** Checks sizes first: the reader allocates every cell up to the last one with a value. */
function checkBounds(/** @type {string} */ xml) {
  for (const [, row = '0'] of xml.matchAll(ROW))
    if (Number(row) > LAST_ROW) throw new Refusal(`there are rows below row ${LAST_ROW}`);
  for (const [, attributes = '', closed] of xml.matchAll(CELL)) {
    if (closed !== '') continue;
    const [, letters = '', row = '0'] = /\br=["']([A-Z]{1,8})(\d{1,9})["']/.exec(attributes) ?? [];
    if (letters === '') throw new Refusal('a cell has no address');
    const column = [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0);
    if (Number(row) > maxRow) throw new Refusal(`there are cells below row ${maxRow}`);
    if (column > maxColumn) throw new Refusal(`there are cells beyond column ${maxColumn}`);
  }
}

function textOf(/** @type {Uint8Array | undefined} */ part) {
  return part ? strFromU8(part) : '';
}

/** Converts a day to text: the time of day is dropped, and the machine's time zone is not used. */
function plain(/** @type {unknown} */ cell) {
  if (cell instanceof Date) return Number.isNaN(cell.getTime()) ? '#VALUE!' : cell.toISOString().slice(0, 10);
  return typeof cell === 'string' && !cell.isWellFormed() ? cell.toWellFormed() : cell;
}

function reasonOf(/** @type {unknown} */ error) {
  if (!(error instanceof Error)) return 'it cannot be read';
  if (error.name === 'Refusal') return error.message;
  if (error.name === 'SheetNotFoundError')
    return `it has no sheet of that name; its sheets are: ${/** @type {Error & { sheets: string[] }} */ (error).sheets.join(', ')}`.slice(
      0,
      400,
    );
  return 'it is damaged or not an .xlsx workbook';
}
