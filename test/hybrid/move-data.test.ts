import { expect } from 'chai';
import { openDatabase } from '../../data-plane-agent/base/database/open.js';
import { movableData, rowsOf, type MovableData } from '../support/data-moves.js';
import { needsPostgres } from '../support/postgres.js';
import { reachable } from '../support/uploads.js';

for (const database of ['sqlite', 'postgres'] as const) {
  describe(`moving contract data out of an agent and back, on ${database}`, () => {
    if (database === 'postgres') needsPostgres();
    const movable = movableData();
    let data: MovableData;
    before(async () => {
      data = await movable.start({ database });
    });
    after(() => data?.stop());

    const inAgent = () => rowsOf(data.agent.serving.hosted.database, data.org.tenant.id);
    const inInstallation = async () => {
      const url = data.env['TENANT_DATABASE_URL'] ?? `sqlite:${data.server.config.dataDir}/tenant.db`;
      const opened = await openDatabase(url, { poolMax: 2 });
      try {
        return await rowsOf(opened, data.org.tenant.id);
      } finally {
        await opened.close();
      }
    };

    it('moves all rows and files, and back, and the audit and the exports are the same', async () => {
      const before = await inAgent();
      expect(before['contracts']?.length).to.equal(12);
      expect(before['audit_log']?.length).to.be.greaterThan(20);
      const exported = await data.run('audit', 'export', '--source', 'data');
      expect(exported.code, exported.stderr).to.equal(0);

      const out = await data.move('--to', 'embedded', '--json');
      expect(out.code, out.stderr).to.equal(0);
      const { move } = JSON.parse(out.stdout) as {
        move: { phase: string; files: number; bytes: number; rows: number };
      };
      expect(move).to.include({
        phase: 'moved',
        files: 2,
        bytes: data.files.reduce((sum, { bytes }) => sum + bytes.length, 0),
      });
      expect(await inInstallation()).to.deep.equal(before);

      const refused = await data.org.asOwner.get('/contracts');
      expect([refused.status, refused.text]).to.satisfy(
        ([status, text]: [number, string]) => status === 409 && text.includes('DATA_MOVED'),
      );
      expect(await inAgent()).to.deep.equal(before);

      const early = await data.move('--to', 'agent');
      expect(early.code).to.equal(1);
      expect(early.stderr).to.contain('--delete-source');
      const deleted = await data.move('--delete-source', '--yes');
      expect(deleted.code, deleted.stderr).to.equal(0);
      expect(Object.values(await inAgent()).flat()).to.deep.equal([]);

      const back = await data.move('--to', 'agent');
      expect(back.code, back.stderr).to.equal(0);
      expect(await inAgent()).to.deep.equal(before);
      expect((await data.run('audit', 'export', '--source', 'data')).stdout).to.equal(exported.stdout);
      const verified = await data.run('audit', 'verify', '--source', 'data');
      expect(verified.code, verified.stderr).to.equal(0);
    });

    it('has the same files, found by the search, and answers to idempotency keys afterwards', async () => {
      for (const { id, bytes } of data.files) {
        const { body } = await data.org.asOwner.get<{ url: string }>(`/files/${id}/download`);
        const stored = await fetch(reachable(body.url, data.org.asOwner));
        expect(Buffer.from(await stored.arrayBuffer()).equals(Buffer.from(bytes))).to.equal(true);
      }
      const found = await data.org.asOwner.get<{ total: number }>('/contracts', { query: { q: 'M-11' } });
      expect(found.body.total, found.text).to.equal(1);
    });
  });
}
