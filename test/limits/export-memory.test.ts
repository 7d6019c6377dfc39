import { expect } from 'chai';
import { createRemoteDataPlane } from '../../data-plane-agent/plane/remote.js';
import { serve } from '../../data-plane-agent/plane/serve.js';
import { bind, type DataPlane } from '../../data-plane-agent/plane/contract/data-plane.js';
import { EXPORT_CHUNK, type ExportChunk } from '../../data-plane-agent/plane/contract/records/export.js';
import type { WireReply, WireRequest } from '../../data-plane-agent/plane/contract/wire.js';
import { OPERATIONS, OPERATION_NAMES, type Operations } from '../../data-plane-agent/plane/operations/index.js';
import { contractSheet } from '../../server/spreadsheets/contract-sheet.js';
import { linked, type Linked } from '../base/link-support.js';
import { median } from '../bench/load.js';
import { aCall } from '../support/plane.js';
import { collectGarbage } from '../support/watched-loop.js';

const CONTRACTS = 20_000;
const CELL = 'x'.repeat(100);
const COLUMNS = Array.from({ length: 12 }, (_, i) => ({ name: `column${i}`, fieldId: null, names: null }));
/** The whole file has about 50 MB. */
const MOST_MB = 16;

describe('an export through the link', () => {
  let pair: Linked;
  /** Chunks that the agent's side was asked for. */
  let asked = 0;

  const chunk = (): ExportChunk => {
    asked += 1;
    const isLast = asked * EXPORT_CHUNK >= CONTRACTS;
    return {
      contracts: Array.from({ length: EXPORT_CHUNK }, () => ({
        cells: Array.from({ length: 6 }, () => CELL),
        lines: Array.from({ length: 2 }, () => Array.from({ length: 6 }, () => CELL)),
      })),
      taken: EXPORT_CHUNK,
      next: isLast ? null : { createdAt: asked, id: 'last' },
    };
  };
  const source: DataPlane<Operations> = {
    invoke: (name) => {
      const output =
        name === 'planContractExport'
          ? { columns: COLUMNS, ids: null }
          : name === 'exportContracts'
            ? chunk()
            : { ok: true };
      return Promise.resolve({ output, replayed: false } as never); // of these three operations
    },
  };

  before(async () => {
    const answer = serve(source, OPERATION_NAMES, (error) => {
      throw error;
    });
    pair = await linked({
      client: {
        handlers: {
          onRequest: async ({ body }, { signal }) => ({
            head: {},
            body: Buffer.from(
              JSON.stringify(await answer(JSON.parse(Buffer.from(body).toString()) as WireRequest, { signal })),
            ),
          }),
        },
      },
    });
  });
  after(() => pair.close());

  it('is held by neither side: chunks are asked for as the file is read, and memory does not grow', async function () {
    this.timeout(180_000);
    const remote = createRemoteDataPlane({
      operations: OPERATIONS,
      transport: async (request, { signal }) => {
        const body = Buffer.from(JSON.stringify(request));
        const reply = await pair.server.request({ head: { op: request.name }, body }, { signal });
        return JSON.parse(Buffer.from(reply.body).toString()) as WireReply;
      },
    });
    const plane = bind(remote, aCall(), { operations: OPERATIONS });
    const names = { subjectName: () => null, memberName: () => null, memberEmail: () => null };
    const heldMb = (): number => {
      collectGarbage();
      const { heapUsed, arrayBuffers } = process.memoryUsage();
      return (heapUsed + arrayBuffers) / 1e6;
    };
    let bytes = 0;
    let pieces = 0;
    const held: number[] = [];
    for await (const piece of contractSheet({ plane, profile: 'full', filter: {}, names })) {
      bytes += piece.length;
      pieces += 1;
      if (pieces % 50 === 0) held.push(heldMb());
      // One chunk may have been read ahead of the text that was taken.
      expect(asked * EXPORT_CHUNK * 2 * 1_200).to.be.lessThan(bytes + 1_000_000);
    }
    expect(bytes).to.be.greaterThan(40_000_000);
    expect(asked * EXPORT_CHUNK).to.equal(CONTRACTS);
    // The first chunks load code and fill caches, and a single measurement may find what is about to be freed.
    const third = Math.floor(held.length / 3);
    const grownMb = median(held.slice(-third)) - median(held.slice(0, third));
    expect(grownMb, held.map((mb) => mb.toFixed(1)).join(' ')).to.be.lessThan(MOST_MB);
  });
});
