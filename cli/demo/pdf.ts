/** A sheet of A4, in points. */
const SHEET = { width: 595, height: 842, left: 64, top: 780, leading: 18 };

/**
 * A PDF of one sheet with these lines, the first of them as its title. Latin letters only: it uses a standard font that
 * need not be embedded, and the same lines give the same bytes.
 */
export function pdfOfLines([heading = '', ...lines]: readonly string[]): Buffer {
  const content = [
    `BT /F1 15 Tf ${SHEET.left} ${SHEET.top} Td (${escaped(heading)}) Tj ET`,
    ...lines.map(
      (line, i) => `BT /F1 11 Tf ${SHEET.left} ${SHEET.top - (i + 2) * SHEET.leading} Td (${escaped(line)}) Tj ET`,
    ),
  ].join('\n');
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${SHEET.width} ${SHEET.height}] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>`,
    `<< /Length ${Buffer.byteLength(content, 'latin1')} >>\nstream\n${content}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
  ];
  let body = '%PDF-1.4\n';
  const places = objects.map((object, i) => {
    const place = Buffer.byteLength(body, 'latin1');
    body += `${i + 1} 0 obj\n${object}\nendobj\n`;
    return place;
  });
  const table = places.map((place) => `${String(place).padStart(10, '0')} 00000 n \n`).join('');
  const size = objects.length + 1;
  const tail = `xref\n0 ${size}\n0000000000 65535 f \n${table}trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${Buffer.byteLength(body, 'latin1')}\n%%EOF\n`;
  return Buffer.from(body + tail, 'latin1');
}

const escaped = (text: string): string => text.replaceAll(/[\\()]/g, (sign) => `\\${sign}`);
