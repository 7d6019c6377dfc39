import { expect } from 'chai';
import { migrate } from '../../data-plane-agent/base/database/migrator.js';
import { generateKeyRingText, parseKeyRing } from '../../data-plane-agent/base/secrets.js';
import { planeJobs } from '../../data-plane-agent/host/jobs.js';
import type { Upkeep } from '../../data-plane-agent/host/upkeep.js';
import { WORK_KINDS } from '../../data-plane-agent/plane/store/due-work.js';
import { ENDING } from '../../data-plane-agent/plane/store/expiry.js';
import { TENANT_MIGRATIONS } from '../../data-plane-agent/plane/store/migrations/index.js';
import { fakeClock } from '../support/clock.js';
import { forEachDatabase } from '../support/database.js';
import { openExternalServices } from '../support/external-services.js';

describe('the background work of a plane', () => {
  it('has one job for each of its kinds', async () => {
    const kinds: string[] = [];
    const upkeep: Upkeep = {
      round: ({ steps }) => Promise.resolve(void kinds.push(...Object.keys(steps))),
      bringForward: () => Promise.resolve(),
    };
    const { external, close } = await openExternalServices({
      clock: fakeClock(),
      keyRing: parseKeyRing(generateKeyRingText()),
    });
    const { objects, scanner, policy } = external.files;
    const files = {
      objects,
      policy: { ...policy, scans: true },
      scanner: { ...scanner, version: () => Promise.resolve({ engine: '1', signatures: '1', signaturesAt: null }) },
    };
    for (const { run } of planeJobs({
      upkeep,
      files,
      log: external.log,
      deliver: () => Promise.resolve({ more: false }),
    }))
      await run(new AbortController().signal);
    await close();
    expect(kinds.toSorted()).to.deep.equal([...WORK_KINDS].toSorted());
  });
});

forEachDatabase((_kind, fresh) => {
  it('every table of the tenant database whose rows expire is cleaned up', async () => {
    const { database } = await fresh();
    await migrate(database, TENANT_MIGRATIONS);
    const found = await database.read({ tenantId: null }, (tx) =>
      tx.all(
        tx.dialect === 'sqlite'
          ? "SELECT m.name AS name FROM sqlite_master m JOIN pragma_table_info(m.name) c ON c.name = 'expires_at' WHERE m.type = 'table'"
          : "SELECT table_name AS name FROM information_schema.columns WHERE column_name = 'expires_at' AND table_schema = current_schema()",
      ),
    );
    // Uploads are deleted with their bytes; expired messages are kept for a while.
    const otherwise = ['file_uploads', 'outbox'];
    expect(found.map(({ name }) => name)).to.have.members([...ENDING.map(({ table }) => table), ...otherwise]);
  });
});
