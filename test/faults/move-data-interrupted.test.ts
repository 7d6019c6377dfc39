import { expect } from 'chai';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { MovePhase } from '../../server/store/data-moves.js';
import { completeFigures, movableData, rowsOf, type MovableData } from '../support/data-moves.js';
import { until } from '../support/joined-agent.js';

for (const accessMode of ['outbound', 'direct'] as const)
  describe(`moving contract data over a link that is ${accessMode}`, () => {
    const movable = movableData();
    let data: MovableData;
    beforeEach(async () => {
      data = await movable.start({ database: 'sqlite', agent: { accessMode } });
    });
    afterEach(() => data?.stop());

    const inAgent = () => rowsOf(data.agent.serving.hosted.database, data.org.tenant.id);
    const phase = async (): Promise<MovePhase | undefined> => {
      const row = await data.server.foundation.platform.read({ tenantId: null }, (tx) =>
        tx.get('SELECT phase FROM data_moves WHERE tenant_id = ? ORDER BY started_at DESC LIMIT 1', [
          data.org.tenant.id,
        ]),
      );
      return row?.['phase'] as MovePhase | undefined;
    };
    const actions = async (): Promise<string[]> =>
      (await data.org.audit()).map(({ action }) => action).filter((action) => action.startsWith('data_move'));

    it('continues when the command was killed, and refuses changes meanwhile', async function () {
      this.timeout(180_000);
      await completeFigures(data.agent.serving.hosted.database, data.org.tenant.id);
      const before = await inAgent();
      for (const at of ['copying_files', 'verifying'] as const) {
        const running = await data.startMove('--to', 'embedded');
        await until(async () => (await phase()) === at, `the move is ${at}`, { ms: 60_000 });
        running.kill('SIGKILL');
        await running.ended;
        const contract = String(before['contracts']?.[0]?.['id']);
        const changed = await data.org.asOwner.post(`/contracts/${contract}/notes`, { label: 'a', value: 'b' });
        expect([changed.status, changed.headers.get('Retry-After')]).to.deep.equal([503, '30']);
        expect(changed.text).to.contain('DATA_MOVING');
        expect((await data.org.asOwner.get(`/contracts/${contract}`)).status).to.equal(200);
      }
      const done = await data.move('--to', 'embedded');
      expect(done.code, done.stderr).to.equal(0);
      expect(done.stdout).to.contain('EDITION=self_hosted');
      expect(await inAgent()).to.deep.equal(before);
      expect(await actions()).to.deep.equal(['data_move_started', 'data_move_finished']);
      const again = await data.move('--to', 'embedded', '--json');
      expect(again.code).to.equal(0);
      expect(await actions()).to.deep.equal(['data_move_started', 'data_move_finished']);
    });

    it('changes nothing if the policy of the agent refuses it', async () => {
      const before = await inAgent();
      await writeFile(join(data.agent.dataDir, 'policy.json'), JSON.stringify({ export: false }));
      data.agent.serving.reloadPolicy();
      const refused = await data.move('--to', 'embedded', '--json');
      expect(refused.code).to.equal(1);
      expect(refused.stderr).to.contain('DATA_MOVE_DENIED');
      for (const name of ['readRowsToMove', 'readLongText', 'readFilePart']) expect(refused.stderr).to.contain(name);
      expect(await phase()).to.equal('cancelled');
      const note = await data.org.asOwner.post(`/contracts/${String(before['contracts']?.[0]?.['id'])}/notes`, {
        label: 'a',
        value: 'b',
      });
      expect(note.status, note.text).to.equal(201);
    });

    it('waits for an agent that is away, and is complete then', async function () {
      this.timeout(180_000);
      const running = await data.startMove('--to', 'embedded');
      await until(async () => (await phase()) === 'copying_files', 'files are copied', { ms: 60_000 });
      await data.agent.halt();
      await sleep(1_000);
      await data.agent.start();
      const done = await running.ended;
      expect(done.code, done.stderr).to.equal(0);
      const refused = await data.move('--cancel');
      expect([refused.code, refused.stderr]).to.satisfy(
        ([code, stderr]: [number, string]) => code === 1 && stderr.includes('there is no move to cancel'),
      );
    });

    it('needs one thing to do, and an organisation that exists', async () => {
      expect((await data.move()).code).to.equal(2);
      expect((await data.move('--to', 'agent', '--cancel')).code).to.equal(2);
      expect((await data.move('another', '--to', 'agent')).code).to.equal(2);
      expect((await data.move('--delete-source', '--json')).stderr).to.contain('DATA_MOVE_NONE');
    });
  });
