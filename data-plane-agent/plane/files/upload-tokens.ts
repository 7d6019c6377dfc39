import { jwtVerify, SignJWT, errors } from 'jose';
import type { Clock } from '../../base/clock.js';
import type { KeyRing } from '../../base/secrets.js';
import type { FileKind } from '../contract/vocabulary.js';

/** What an upload was announced as. Its token is bound to every bit of it. */
export interface Announced {
  readonly tenantId: string;
  /** `null`: by no member. */
  readonly userId: string | null;
  readonly fileId: string;
  readonly bucket: string;
  readonly objectKey: string;
  readonly fileName: string;
  readonly contentType: string;
  readonly sizeBytes: number;
  readonly kind: FileKind;
  readonly subjectId: string | null;
  readonly contractId: string | null;
  readonly paymentId: string | null;
}

export interface UploadTokens {
  issue(announced: Announced, expiresAt: number): Promise<string>;
  /** `undefined`: not one of ours, or not as it was given out. An expired one is told as such, with what it was for. */
  read(token: string): Promise<{ readonly announced: Announced; readonly isExpired: boolean } | undefined>;
}

const ISSUER = 'duebook-files';
const TYPE = 'up+jwt';

/** Tokens are JWTs (HS256, type `up+jwt`, RFC 8725) under a key that is derived for nothing else. */
export function createUploadTokens({
  keyRing,
  clock,
}: {
  readonly keyRing: KeyRing;
  readonly clock: Clock;
}): UploadTokens {
  const key = keyRing.derive('file-upload-tokens');
  return {
    issue: (announced, expiresAt) =>
      new SignJWT({ file: announced })
        .setProtectedHeader({ alg: 'HS256', typ: TYPE })
        .setIssuer(ISSUER)
        .setExpirationTime(Math.floor(expiresAt / 1000))
        .sign(key),
    async read(token) {
      try {
        const { payload } = await jwtVerify(token, key, {
          algorithms: ['HS256'],
          typ: TYPE,
          issuer: ISSUER,
          requiredClaims: ['exp', 'file'],
          currentDate: new Date(clock.now()),
        });
        return { announced: payload['file'] as Announced, isExpired: false };
      } catch (error) {
        // The signature is verified before the time is looked at.
        if (error instanceof errors.JWTExpired)
          return { announced: error.payload['file'] as Announced, isExpired: true };
        if (error instanceof errors.JOSEError) return undefined;
        throw error;
      }
    },
  };
}
