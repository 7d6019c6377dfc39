/** The name and address of a `From:` header. */
export interface MailAddress {
  readonly name: string;
  readonly address: string;
}

/** Parses `Name <address>` or a plain address; returns `undefined` for anything else. */
export function parseMailAddress(text: string): MailAddress | undefined {
  const match = /^(?:"?([^"<>\p{Cc}]*?)"?\s*<([^<>]*)>|([^<>]*))$/u.exec(text.trim());
  const address = (match?.[2] ?? match?.[3] ?? '').trim();
  return match && /^[^\s@<>(),;:"\\\p{Cc}]+@[^\s@<>(),;:"\\\p{Cc}]+$/u.test(address)
    ? { name: (match[1] ?? '').trim(), address }
    : undefined;
}
