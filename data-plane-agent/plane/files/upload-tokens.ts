import { jwtVerify, SignJWT, errors } from 'jose';
import type { Clock } from '../../base/clock.js';
import type { KeyRing } from '../../base/secrets.js';
import type { FileKind } from '../contract/vocabulary.js';

/** The declared properties of an upload, all of which are bound to its token. */
export interface Announced {
  readonly tenantId: string;
  /** `null` if no member uploads. */
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
  /** `undefined` for an invalid token. An expired one is returned with `isExpired`. */
  read(token: string): Promise<{ readonly announced: Announced; readonly isExpired: boolean } | undefined>;
}

const ISSUER = 'duebook-files';
const TYPE = 'up+jwt';

/** Tokens are JWTs (HS256, type `up+jwt`, RFC 8725), signed with a key derived for this purpose only. */
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
        // The signature is verified before the expiry.
        if (error instanceof errors.JWTExpired)
          return { announced: error.payload['file'] as Announced, isExpired: true };
        if (error instanceof errors.JOSEError) return undefined;
        throw error;
      }
    },
  };
}
