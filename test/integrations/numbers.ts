import fc from 'fast-check';

/** Numbers with valid check digits, computed here independently of the product. */

const digits = (length: number) => fc.stringMatching(new RegExp(`^\\d{${length}}$`));

/** GB 11643-1999: weights are powers of 2 modulo 11. */
export const aResidentId = fc
  .tuple(
    fc.constantFrom('110105', '440308', '830000'),
    fc.date({ min: new Date('1930-01-01'), max: new Date('2020-12-31'), noInvalidDate: true }),
    digits(3),
  )
  .map(([region, born, sequence]) => {
    const front = region + born.toISOString().slice(0, 10).replaceAll('-', '') + sequence;
    let sum = 0;
    for (const [index, digit] of [...front].entries()) sum += Number(digit) * (2 ** (17 - index) % 11);
    const check = (12 - (sum % 11)) % 11;
    return front + (check === 10 ? 'X' : String(check));
  });

const CODE = '0123456789ABCDEFGHJKLMNPQRTUWXY';

/** GB 32100-2015: weights are powers of 3 modulo 31. */
export const anOrganisationCode = fc
  .tuple(
    fc.constantFrom('91350100', '12440300', '93110105'),
    fc.array(fc.constantFrom(...CODE.split('')), { minLength: 9, maxLength: 9 }),
  )
  .map(([beginning, rest]) => {
    const front = beginning + rest.join('');
    let [sum, weight] = [0, 1];
    for (const character of front) {
      sum += CODE.indexOf(character) * weight;
      weight = (weight * 3) % 31;
    }
    return front + (CODE[(31 - (sum % 31)) % 31] ?? '');
  });

/** ISO 13616 of Germany, whose numbers have no check digits of their own. */
export const anIban = digits(18).map((account) => {
  const check = 98n - (BigInt(`${account}131400`) % 97n);
  return `DE${String(check).padStart(2, '0')}${account}`;
});

/** ISO/IEC 7812, of length 16 and 19. */
export const aBankCard = fc
  .tuple(fc.constantFrom('622202', '411111', '550000', '955880'), fc.oneof(digits(9), digits(12)))
  .map(([issuer, account]) => {
    const front = issuer + account;
    const sum = [...front].toReversed().reduce((total, digit, index) => {
      const value = Number(digit) * (index % 2 === 0 ? 2 : 1);
      return total + Math.floor(value / 10) + (value % 10);
    }, 0);
    return front + String((10 - (sum % 10)) % 10);
  });

/** One of each kind, none of which is in use. */
export const SECRETS = [
  `sk-${'Ab3dEf6hIj9lMn2p'.repeat(2)}`,
  `ghp_${'aB1'.repeat(12)}`,
  'AKIAABCDEFGHIJKLMNOP',
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl',
  'postgres://book:hunter2@db.example.com:5432',
  '-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIA==\n-----END EC PRIVATE KEY-----',
] as const;

/** Texts that repeat one of these have the most candidates of a detector. */
export const SLOW_PATTERNS: readonly string[] = [
  '4 ',
  '1 3 8 0 0 1 ',
  '+1 2 3 4 5 6 7 8 ',
  'a@',
  'a@b.cn ',
  'a.b-',
  '1.1.1.1 ',
  '13 80 01 38 00 0 ',
  'NO93 8601 1117 94',
  '4111 1111 1111 1111 ',
  '4',
  'a1 ',
  'a:',
  '1.',
  'eyJ',
  'sk-',
  'token=',
  '-----BEGIN PRIVATE KEY-----',
  '-----BEGIN ',
  '://',
  'a://b:',
  ':@',
  'passport 1 ',
  'ignore a b c ',
  'ignore ',
  '忽略',
  'show a system ',
  '<',
  'A<',
  '\u0301',
  '1\u200b',
  '㏂',
  '⒈',
  '913501 ',
  '9 1 3 5 A 0 ',
];
