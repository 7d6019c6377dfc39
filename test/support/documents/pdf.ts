/** A PDF of one page with this content stream, for content that no program would write. */
export function pdfOf(content: Buffer): Buffer {
  const objects: (string | Buffer)[] = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << >> >>',
    content,
  ];
  const parts: Buffer[] = [Buffer.from('%PDF-1.4\n')];
  const places: number[] = [];
  for (const [i, object] of objects.entries()) {
    places.push(Buffer.concat(parts).length);
    parts.push(Buffer.from(`${i + 1} 0 obj\n`), Buffer.from(object), Buffer.from('\nendobj\n'));
  }
  const at = Buffer.concat(parts).length;
  parts.push(
    Buffer.from(
      `xref\n0 5\n0000000000 65535 f \n${places.map((place) => `${String(place).padStart(10, '0')} 00000 n \n`).join('')}trailer << /Size 5 /Root 1 0 R >>\nstartxref\n${at}\n%%EOF`,
    ),
  );
  return Buffer.concat(parts);
}

/** A stream; `filter` is its compression. */
export const streamOf = (data: Buffer, filter = ''): Buffer =>
  Buffer.concat([Buffer.from(`<< /Length ${data.length} ${filter} >>\nstream\n`), data, Buffer.from('\nendstream')]);
