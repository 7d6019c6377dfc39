import { generateSecret, generateURI, verify } from 'otplib';

/** Codes of an authenticator: SHA-1, six digits, thirty seconds, which every authenticator app speaks (RFC 6238). */
export const totp = {
  /** 160 random bits in base32. */
  newSecret: (): string => generateSecret(),

  /** As a QR code shows it to an app. `issuer` and `account` are what the app's list of codes says. */
  url: ({ issuer, account, secret }: { issuer: string; account: string; secret: string }): string =>
    generateURI({ issuer, label: account, secret }),

  /**
   * The time step whose code this is, the present one or one to either side; `undefined` for a code that is wrong. `at`
   * in milliseconds. Whether the step was used before is for the database to say: the library remembers nothing, and
   * throws when a clock was set back.
   */
  stepOf: async ({ secret, code, at }: { secret: string; code: string; at: number }): Promise<number | undefined> => {
    // The library throws at anything but six digits.
    if (!isTotpCode(code)) return undefined;
    const result = await verify({ secret, token: code, epoch: Math.floor(at / 1_000), epochTolerance: STEP_S });
    return result.valid && 'timeStep' in result ? result.timeStep : undefined;
  },
};

export const isTotpCode = (code: string): boolean => /^[0-9]{6}$/.test(code);

const STEP_S = 30;
