import { expect } from 'chai';
import { strToU8, zipSync } from 'fflate';
import {
  CONTENT_TYPES,
  contentCheck,
  contentFault,
  mediaType,
} from '../../../data-plane-agent/plane/files/content/content-type.js';
import { aZip, inPieces, streamedZip, zeros } from '../../support/archives.js';
import { aWorkbook } from '../../support/workbook.js';

const OFFICE = 'application/vnd.openxmlformats-officedocument';
const DOCX = `${OFFICE}.wordprocessingml.document`;
const XLSX = `${OFFICE}.spreadsheetml.sheet`;
const PPTX = `${OFFICE}.presentationml.presentation`;
const ODT = 'application/vnd.oasis.opendocument.text';
const ODS = 'application/vnd.oasis.opendocument.spreadsheet';

const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');
const faultOf = (type: string, content: Uint8Array | string, pieces = 10_000) =>
  contentFault(type, inPieces(typeof content === 'string' ? Buffer.from(content) : content, pieces));

const docx = (extra: Record<string, string> = {}): Buffer =>
  aZip({
    '[Content_Types].xml': '<Types/>',
    '_rels/.rels': '<Relationships/>',
    'word/document.xml': '<w:document/>',
    ...extra,
  });
/** The mimetype entry comes first, uncompressed. */
const openDocument = (type: string): Buffer =>
  Buffer.from(
    zipSync({ mimetype: [strToU8(type), { level: 0 }], 'content.xml': strToU8('<office:document-content/>') }),
  );
/** A header, and a directory of streams at a later offset. */
const ole = (...names: string[]): Buffer =>
  Buffer.concat([
    bytes('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1'),
    Buffer.alloc(20_000),
    ...['Root Entry', ...names].map((name) => Buffer.concat([Buffer.from(name, 'utf16le')], 128)),
  ]);
const heic = (major: string, ...compatible: string[]): Buffer => {
  const brands = [major, '\0\0\0\0', ...compatible].join('');
  const size = Buffer.alloc(4);
  size.writeUInt32BE(8 + brands.length);
  return Buffer.concat([size, bytes(`ftyp${brands}`), Buffer.alloc(100)]);
};
const gb18030 = (text: string): Buffer =>
  Buffer.concat([...text].map((character) => GB.get(character) ?? bytes(character)));
/** A few characters in GB 18030, for which the runtime has no encoder. */
const GB = new Map([
  ['合', bytes('\xba\xcf')],
  ['同', bytes('\xcd\xac')],
  ['联', bytes('\xc1\xaa')],
  ['通', bytes('\xcd\xa8')],
  ['㐀', bytes('\x81\x39\xee\x39')],
]);

const MAIL = 'From: Ann <ann@example.com>\r\nSubject: the contract\r\n\tas agreed\r\n\r\nHere it is.\r\n';
const FIRST_XML =
  '<?xml version="1.0" encoding="UTF-8"?>\n<!-- an invoice -->\n<Invoice xmlns="urn:x"><No>1</No></Invoice>';

const samples = async (): Promise<Record<string, (Buffer | Uint8Array | string)[]>> => ({
  'application/pdf': ['%PDF-1.7\n%âãÏÓ\n1 0 obj'],
  'image/png': [bytes('\x89PNG\r\n\x1a\n\0\0\0\rIHDR')],
  'image/jpeg': [bytes('\xff\xd8\xff\xe0\0\x10JFIF\0'), bytes('\xff\xd8\xff\xe1..Exif')],
  'image/webp': [bytes('RIFF\x10\0\0\0WEBPVP8 ')],
  'image/tiff': [bytes('II*\0\x08\0\0\0'), bytes('MM\0*\0\0\0\x08')],
  'image/heic': [heic('heic', 'mif1', 'heic'), heic('mif1', 'mif1', 'heic')],
  [DOCX]: [docx()],
  [XLSX]: [await aWorkbook([['a', 1]]), aZip({ '[Content_Types].xml': '<Types/>', 'xl/workbook.xml': '<workbook/>' })],
  [PPTX]: [aZip({ '[Content_Types].xml': '<Types/>', 'ppt/presentation.xml': '<p/>' })],
  'application/msword': [ole('WordDocument', '1Table')],
  'application/vnd.ms-excel': [ole('Workbook'), ole('Book')],
  [ODT]: [openDocument(ODT)],
  [ODS]: [openDocument(ODS)],
  'application/ofd': [aZip({ 'OFD.xml': '<ofd:OFD/>', 'Doc_0/Document.xml': '<ofd:Document/>' })],
  'application/zip': [aZip({ 'a.txt': 'a' }), aZip({}), streamedZip({ a: 'a' }), docx()],
  'text/csv': [
    'No;Amount\nA-1;1\n',
    '\ufeffNo,Amount\r\n合同,1\r\n',
    gb18030('合同,1\n'),
    bytes('Kunde;Betrag\r\nCaf\xe9 Cr\xe8me;12\r\n\x1a'),
    Buffer.from('\ufeffNo\tAmount\n合同\t1\n', 'utf16le'),
  ],
  'text/plain': [
    'a contract\f\nits second page',
    '合同',
    gb18030('合同 联通 㐀'),
    gb18030('联通'),
    bytes('M\xfcller, 5 \x80'),
    '<1> a contract',
    'we write <script> in the text',
    Buffer.from('\ufeff合同', 'utf16le'),
    Buffer.from('\ufeff合同', 'utf16le').swap16(),
  ],
  'application/xml': [
    FIRST_XML,
    '<a/>',
    '\ufeff<?xml version="1.0"?><!DOCTYPE a [<!ELEMENT a (b)>]><a>1</a>',
    '<ns:a xmlns:ns="urn:x">合同</ns:a>',
    '<发票>1</发票>',
  ],
  'text/xml': [FIRST_XML],
  'message/rfc822': [
    MAIL,
    `From ann@example.com Mon Nov  2 08:00:00 2026\n${MAIL}`,
    'Received: from a by b;\n date\nDate: today\n\n\x00binary',
  ],
});

describe('the content of a file', () => {
  it('is recognised as its type in all its variants', async () => {
    const all = await samples();
    expect(Object.keys(all).toSorted()).to.deep.equal(CONTENT_TYPES.toSorted());
    for (const [type, contents] of Object.entries(all)) {
      for (const [at, content] of contents.entries())
        for (const pieces of [1, 3, 65_536])
          expect(await faultOf(type, content, pieces), `${type} ${at}, in chunks of ${pieces} bytes`).to.equal(
            undefined,
          );
    }
  });

  it('is not recognised as another type', async () => {
    const all = await samples();
    const alike = new Set([`application/xml text/xml`, `text/xml application/xml`]);
    for (const type of CONTENT_TYPES) {
      for (const [other, contents] of Object.entries(all)) {
        // Tables, mails and XML are text, and documents in archive formats are archives.
        if (
          other === type ||
          alike.has(`${type} ${other}`) ||
          type === 'text/plain' ||
          type === 'text/csv' ||
          type === 'application/zip'
        )
          continue;
        for (const content of contents) {
          if (type === DOCX && other === 'application/zip') continue; // one of them is such a document
          expect(await faultOf(type, content), `${other} as ${type}`).to.be.a('string');
        }
      }
    }
    for (const type of ['text/plain', 'text/csv'])
      for (const other of CONTENT_TYPES.filter((one) => /^(image|application\/(?!xml))/.test(one)))
        for (const content of all[other] ?? [])
          expect(await faultOf(type, content), `${other} as ${type}`).to.be.a('string');
    for (const other of CONTENT_TYPES.filter((one) => /^(image|text|message)|pdf|xml$|msword|ms-excel/.test(one)))
      for (const content of all[other] ?? [])
        expect(await faultOf('application/zip', content), `${other} as a zip`).to.equal('is not a zip archive');
  });

  it('matches every type if it is empty', async () => {
    for (const type of CONTENT_TYPES) expect(await faultOf(type, '')).to.equal(undefined);
  });

  it('is not a document if the signature is elsewhere, or another format follows', async () => {
    expect(await faultOf('application/pdf', '\n%PDF-1.7')).to.equal('is not a PDF document');
    expect(await faultOf('application/pdf', '<html><script>alert(1)</script>%PDF-1.7')).to.equal(
      'is not a PDF document',
    );
    const zip = aZip({ 'a.txt': 'a' });
    for (const [type, contents] of Object.entries(await samples())) {
      if (!/^image|pdf|msword|ms-excel/.test(type)) continue;
      for (const content of contents)
        expect(await faultOf(type, Buffer.concat([Buffer.from(content), zip])), type).to.match(
          /^is both .* and an archive$/,
        );
    }
    expect(await faultOf('application/zip', Buffer.concat([bytes('MZ'), zip]))).to.equal('is not a zip archive');
    expect(await faultOf('image/heic', heic('avif', 'mif1', 'avif'))).to.equal('is not a HEIC image');
    expect(await faultOf('image/webp', bytes('RIFF\x10\0\0\0WAVEfmt '))).to.equal('is not a WebP image');
  });

  it('is neither a page nor a script in any text type; in XML an element alone is neither', async () => {
    const pages = [
      '<html>',
      ' \n<!DOCTYPE html><p>',
      '<!-- a --><script>alert(1)</script>',
      '<SVG onload=alert(1)>',
      '\ufeff<body>',
      '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>',
      '<?xml version="1.0"?>\n<!DOCTYPE svg PUBLIC "x" "y"><svg/>',
      '<?php echo 1;',
      '#!/bin/sh\n',
      '<svg:svg xmlns:svg="http://www.w3.org/2000/svg"/>',
    ];
    for (const type of ['text/plain', 'text/csv', 'application/xml', 'text/xml'])
      for (const page of pages)
        if (!type.endsWith('xml') || !/<script|<body/.test(page))
          expect(await faultOf(type, page), `${page} as ${type}`).to.be.a('string');
    expect(
      await faultOf('text/xml', '<a><x:script xmlns:x="http://www.w3.org/1999/xhtml">alert(1)</x:script></a>'),
    ).to.contain('a browser would run');
    expect(await faultOf('message/rfc822', '<html>')).to.equal('is not a mail message');
    expect(await faultOf('text/plain', Buffer.from('\ufeff<html><script>', 'utf16le'))).to.be.a('string');
  });

  it('is not text if it is malformed or contains control characters at any position', async () => {
    const long = 'a line of a text\n'.repeat(10_000);
    for (const bad of [`${long}\0`, `${long}\u001b[31m`, `\u0008${long}`, `a\u007f`])
      expect(await faultOf('text/plain', bad)).to.equal('has control characters that do not occur in text');
    for (const bad of [bytes(`${long}\x81`), bytes('\x9d\xff')])
      expect(await faultOf('text/plain', bad), bad.subarray(-4).toString('hex')).to.equal(
        'has control characters that do not occur in text',
      );
    for (const bad of [bytes('\xff\xfe\0\xd8a\0'), bytes('\xff\xfea')])
      expect(await faultOf('text/plain', bad), bad.toString('hex')).to.equal(
        'begins as UTF-16 text but is not valid UTF-16',
      );
    for (const document of ['%PDF-1.4\nplain', '\n%PDF-1.7', '%!PS-Adobe-3.0', '{\\rtf1\\ansi}'])
      for (const type of ['text/plain', 'text/csv'])
        expect(await faultOf(type, document), document).to.equal(
          'is not plain text: it begins like a PDF, PostScript or RTF document, or an image',
        );
    expect(await faultOf('text/plain', Buffer.from('合同', 'utf16le'))).to.be.a('string');
    for (const text of ['a', 'a < b', '<1>', '<a', '<?xml version="1.0"?>', '<!-- a -->'])
      expect(await faultOf('application/xml', text), text).to.equal('is not XML');
  });

  it('is refused with macros, unless its type allows them, and if encrypted', async () => {
    expect(await faultOf(DOCX, docx({ 'word/vbaProject.bin': 'x' }))).to.equal(
      'is a Word document (docx) with macros, which has a separate content type',
    );
    expect(await faultOf(DOCX, ole('EncryptedPackage', 'EncryptionInfo'))).to.equal(
      'is not a Word document (docx), or is encrypted',
    );
    expect(await faultOf(DOCX, docx().subarray(0, -5))).to.contain('its directory is missing');
  });

  it('is inspected with little memory and time', async () => {
    const check = contentCheck('text/plain; charset=utf-8');
    const piece = Buffer.alloc(65_536, 'a line of a text\n');
    const before = process.memoryUsage().arrayBuffers;
    for (let at = 0; at < 800; at += 1) check.write(piece);
    expect(check.end()).to.equal(undefined);
    expect(process.memoryUsage().arrayBuffers - before).to.be.lessThan(16_000_000);
    expect(await contentFault('application/pdf', zeros(50_000_000))).to.equal('is not a PDF document');
  });

  it('is identified by its media type alone', () => {
    expect(mediaType(' Text/CSV ; charset=utf-8')).to.equal('text/csv');
    expect(() => contentCheck('text/html')).to.throw(RangeError);
    expect(() => contentCheck('constructor')).to.throw(RangeError);
  });
});
