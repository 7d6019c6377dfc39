import { MalformedFrame } from './frames.js';
import { LINK } from './limits.js';

/** A body that arrives in pieces. */
export interface IncomingBody {
  /** Throws MalformedFrame if there is more than was granted or than a body may have. */
  add(piece: Uint8Array, last: boolean): void;
  /** The whole body, once the last piece has arrived; it counts as held until `release`. */
  whole(): Uint8Array;
  /** Pieces that still arrive are counted but not kept. */
  discard(): void;
  /** The body is no longer needed. */
  release(): void;
}

/** What is allocated for a body whose first piece is not its last. */
const FIRST_BYTES = 16 * 1024;
/** Bodies that a connection may hold before only the oldest incomplete one is granted more. */
const HELD_BYTES: number = LINK.bodyBytes;

/**
 * Collects the bodies of a connection and grants the sender more bytes as it takes them. While the bodies together are
 * too large, those that arrive are completed one after the other; while those that are being worked on are too large,
 * none is. Thereby a connection holds about three times `HELD_BYTES` at most, whatever the other side sends.
 */
export function createBodies(grant: (stream: number, bytes: number) => void): { begin(stream: number): IncomingBody } {
  const arriving = new Set<Arriving>();
  let connectionCredit: number = LINK.connectionCredit;
  let arrivingBytes = 0;
  let workedOnBytes = 0;

  const mayGrant = (body: Arriving): boolean =>
    arrivingBytes + workedOnBytes <= HELD_BYTES ||
    (workedOnBytes <= HELD_BYTES && arriving.values().next().value === body);

  const grantMore = (body: Arriving): void => {
    const taken = LINK.streamCredit - body.credit;
    if (taken < LINK.streamCredit / 2 || !mayGrant(body)) return;
    body.credit += taken;
    grant(body.stream, taken);
  };

  const count = (body: Arriving, bytes: number): void => {
    body.credit -= bytes;
    connectionCredit -= bytes;
    if (body.credit < 0 || connectionCredit < 0) throw new MalformedFrame('a body has more bytes than were granted');
    const taken = LINK.connectionCredit - connectionCredit;
    if (taken < LINK.connectionCredit / 4) return;
    connectionCredit += taken;
    grant(0, taken);
  };

  /** Bodies that were granted nothing because too much was held. */
  const grantWaiting = (): void => {
    if (arrivingBytes + workedOnBytes <= HELD_BYTES) for (const body of arriving) grantMore(body);
    else for (const body of arriving.values().take(1)) grantMore(body);
  };

  return {
    begin: (stream) => {
      const body: Arriving = { stream, credit: LINK.streamCredit, size: 0 };
      let pieces: Pieces | undefined = createPieces();
      let isComplete = false;
      arriving.add(body);

      const release = (): void => {
        if (!pieces) return;
        pieces = undefined;
        if (arriving.delete(body)) arrivingBytes -= body.size;
        else workedOnBytes -= body.size;
        grantWaiting();
      };

      return {
        add: (piece, last) => {
          count(body, piece.length);
          if (isComplete) throw new MalformedFrame('a body goes on after its end');
          isComplete = last;
          if (!pieces) return;
          body.size += piece.length;
          arrivingBytes += piece.length;
          if (body.size > LINK.bodyBytes) throw new MalformedFrame('a body is too large');
          pieces.add(piece, last);
          if (!last) return grantMore(body);
          arriving.delete(body);
          arrivingBytes -= body.size;
          workedOnBytes += body.size;
          return grantWaiting();
        },
        whole: () => pieces?.whole() ?? NOTHING,
        discard: release,
        release,
      };
    },
  };
}

interface Arriving {
  readonly stream: number;
  credit: number;
  size: number;
}

const NOTHING = new Uint8Array(0);

interface Pieces {
  add(piece: Uint8Array, last: boolean): void;
  whole(): Uint8Array;
}

/**
 * Pieces are copied into one buffer that grows: many small buffers would need far more memory than they have bytes, and
 * each is a view of a larger one.
 */
function createPieces(): Pieces {
  let buffer: Uint8Array = NOTHING;
  let used = 0;
  return {
    add: (piece, last) => {
      const size = used + piece.length;
      if (last && used === 0) buffer = piece;
      else {
        if (size > buffer.length) {
          const larger = Buffer.allocUnsafeSlow(
            Math.min(Math.max(2 * buffer.length, size, FIRST_BYTES), LINK.bodyBytes),
          );
          larger.set(buffer.subarray(0, used));
          buffer = larger;
        }
        buffer.set(piece, used);
      }
      used = size;
    },
    whole: () => buffer.subarray(0, used),
  };
}
