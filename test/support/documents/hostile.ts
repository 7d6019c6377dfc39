import { zipSync } from 'fflate';
import { pdfOfLines } from '../../../cli/demo/pdf.js';
import { altered, aWorkbook, SHEET } from '../workbook.js';
import { docxParts } from './docx.js';

/** A PDF that requires a password; no password matches its keys. */
export function lockedPdf(): Buffer {
  const marks = '5a'.repeat(32);
  const locked = pdfOfLines(['CONTRACT'])
    .toString('latin1')
    .replace(
      '/Root 1 0 R >>',
      `/Root 1 0 R /ID [<${'00'.repeat(16)}> <${'00'.repeat(16)}>] /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <${marks}> /U <${marks}> >> >>`,
    );
  return Buffer.from(locked, 'latin1');
}

/** A DOCX whose text is truncated in the middle of a tag. */
export const brokenDocx = (): Buffer =>
  docxParts({
    'word/document.xml':
      '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>Contract No.',
  });

/** A workbook of a hundred kilobytes that unpacks to more than a hundred megabytes. */
export async function bombXlsx(): Promise<Uint8Array> {
  const workbook = await aWorkbook([['a']]);
  return altered(workbook, (parts) => ({
    [SHEET]: (parts[SHEET] ?? '').replace('<sheetData>', `<sheetData>${' '.repeat(120 * 2 ** 20)}`),
  }));
}

export const someZip = (): Uint8Array => zipSync({ 'contract.txt': Buffer.from('Contract No. 7') });
