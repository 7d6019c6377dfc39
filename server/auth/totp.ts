import { generateSecret, generateURI, verify } from 'otplib';

/** TOTP codes (RFC 6238) with SHA-1, six digits and thirty seconds, which every authenticator app supports. */
export const totp = {
  /** 160 random bits in base32. */
  newSecret: (): string => generateSecret(),

  /** The `otpauth:` URL for a QR code. The app displays `issuer` and `account` in its list. */
  url: ({ issuer, account, secret }: { issuer: string; account: string; secret: string }): string =>
    generateURI({ issuer, label: account, secret }),

  /**
   * Returns the time step of a valid code: the present step or an adjacent one; `undefined` for a wrong code. `at` is
   * in milliseconds. The database must check that the step was not used before: the library has no such check, and
   * throws when a clock is set back.
   */
  stepOf: async ({ secret, code, at }: { secret: string; code: string; at: number }): Promise<number | undefined> => {
    // The library throws unless the code is six digits.
    if (!isTotpCode(code)) return undefined;
    const result = await verify({ secret, token: code, epoch: Math.floor(at / 1_000), epochTolerance: STEP_S });
    return result.valid && 'timeStep' in result ? result.timeStep : undefined;
  },
};

export const isTotpCode = (code: string): boolean => /^[0-9]{6}$/.test(code);

const STEP_S = 30;
