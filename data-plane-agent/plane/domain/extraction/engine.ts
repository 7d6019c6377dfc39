/** The version must be increased when the rules of `extract.ts` read different values from the same text. */
export const ENGINE = { name: 'rules', version: '4' } as const;
