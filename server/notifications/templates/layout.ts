import type { MailText } from './wording.js';

/** The mail as plain text. */
export function plain({ paragraphs, facts = [], action, code, caution }: MailText, productName: string): string {
  const blocks = [
    ...paragraphs,
    ...(facts.length === 0 ? [] : [facts.map(({ label, value }) => `${label} ${value}`).join('\n')]),
    ...(code === undefined ? [] : [`    ${code}`]),
    ...(action ? [`${action.label}:\n${action.link}`] : []),
    ...(caution === undefined ? [] : [caution]),
  ];
  return `${blocks.join('\n\n')}\n\n-- \n${productName}\n`;
}

/** The mail as HTML, without images, scripts or other remote content. */
export function page(
  { subject, paragraphs, facts = [], action, code, caution }: MailText,
  { productName, language }: { productName: string; language: string },
): string {
  const body = [
    ...paragraphs.map((text) => `<p>${escaped(text)}</p>`),
    ...(facts.length === 0 ? [] : [table(facts)]),
    ...(code === undefined ? [] : [`<p style="font:600 28px/1.4 monospace;letter-spacing:4px">${escaped(code)}</p>`]),
    ...(action
      ? [
          `<p><a href="${escaped(action.link)}" style="display:inline-block;padding:10px 18px;border-radius:6px;background:#1f4e79;color:#ffffff;text-decoration:none">${escaped(action.label)}</a></p>`,
          `<p style="font-size:13px;color:#555555;word-break:break-all">${escaped(action.link)}</p>`,
        ]
      : []),
    ...(caution === undefined ? [] : [`<p style="font-size:13px;color:#555555">${escaped(caution)}</p>`]),
    `<p style="font-size:13px;color:#555555">${escaped(productName)}</p>`,
  ];
  return `<!doctype html>
<html lang="${language}">
<head><meta charset="utf-8"><title>${escaped(subject)}</title></head>
<body style="font:16px/1.5 sans-serif;color:#222222;max-width:560px;margin:0 auto;padding:24px">
${body.join('\n')}
</body>
</html>
`;
}

const table = (facts: NonNullable<MailText['facts']>): string =>
  `<table style="border-collapse:collapse">${facts
    .map(
      ({ label, value }) =>
        `<tr><td style="padding:2px 16px 2px 0;color:#555555;vertical-align:top;white-space:nowrap">${escaped(label)}</td><td style="padding:2px 0;word-break:break-word">${escaped(value)}</td></tr>`,
    )
    .join('')}</table>`;

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
