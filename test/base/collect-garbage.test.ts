import { expect } from 'chai';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout } from 'node:timers/promises';
import { collectGarbage, noteStreamed } from '../../data-plane-agent/base/collect-garbage.js';

const MB = 1024 * 1024;

describe('collecting garbage', () => {
  it('frees what nothing refers to, and leaves no function for it behind', () => {
    const before = typeof globalThis.gc;
    const made: string[][] = [];
    for (let i = 0; i < 300_000; i++) made.push([`value ${i}`]);
    const most = process.memoryUsage();
    made.length = 0;
    collectGarbage();
    const left = process.memoryUsage();
    expect(most.heapUsed - left.heapUsed).to.be.greaterThan(15 * MB);
    expect(most.heapTotal - left.heapTotal).to.be.greaterThan(15 * MB);
    expect(typeof globalThis.gc).to.equal(before);
  });

  it('keeps the buffers of streamed content from gathering', async function () {
    this.timeout(20_000);
    // Without the note V8 lets some 40 MB gather here, and 100 MB in a server.
    expect(await mostBuffers(noteStreamed)).to.be.lessThan(32 * MB);
    expect(typeof globalThis.gc).to.equal('undefined');
  });
});

/** The most memory of buffers while 200 MB are read from a socket, in bytes, beyond what there was before. */
async function mostBuffers(note: (bytes: number) => void): Promise<number> {
  const piece = Buffer.alloc(MB, 'x');
  const server = createServer((socket) => {
    pipeline(Readable.from(Array<Buffer>(200).fill(piece)), socket).catch((error: unknown) =>
      socket.destroy(error as Error),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  collectGarbage();
  const before = process.memoryUsage().arrayBuffers;
  let most = 0;
  let read = 0;
  let due = MB;
  for await (const chunk of connect((server.address() as AddressInfo).port, '127.0.0.1') as AsyncIterable<Buffer>) {
    note(chunk.length);
    read += chunk.length;
    most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    // A thread frees what was collected. It has to get its turn on a machine that is busy.
    if (read < due) continue;
    due += MB;
    await setTimeout(1);
  }
  server.close();
  expect(read).to.equal(200 * MB);
  return most;
}
