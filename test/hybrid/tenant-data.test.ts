import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { installations } from '../support/cli.js';
import { movableData, type MovableData } from '../support/data-moves.js';
import { startAgent, type TestAgent } from '../support/joined-agent.js';
import { aContract } from '../support/samples.js';
import { answersOf, successorOf } from '../support/tenant-data.js';
import type { Administration } from '../support/administration.js';

describe('all data of an organisation behind an agent', () => {
  const movable = movableData();
  const install = installations(after);
  let data: MovableData;
  let there: Administration;
  let other: TestAgent;
  before(async () => {
    data = await movable.start({ database: 'sqlite' });
    there = await successorOf(data.server, data.org);
    other = await startAgent(data.server, there.tenant.id);
  });
  after(async () => {
    await other?.stop();
    await data?.stop();
  });

  it('is exported over the link, and imported behind another agent', async () => {
    const { folder, inProcess } = await install();
    const out = join(folder, 'book');
    const exported = await data.run('tenants', 'export-data', '--out', out, '--json');
    expect(exported.code, exported.stderr).to.equal(0);
    const { env } = data;
    const imported = await inProcess(['tenants', 'import-data', '--tenant', there.tenant.slug, '--from', out], { env });
    expect(imported.code, imported.stderr).to.equal(0);
    const ids = { [data.org.owner.id]: there.owner.id, [data.org.tenant.id]: there.tenant.id };
    const files = data.files.map(({ id }) => id);
    const sent = await answersOf(data.org.asOwner, { files, ids });
    const arrived = await answersOf(there.asOwner, { files });
    expect(Object.keys(arrived)).to.deep.equal(Object.keys(sent));
    for (const asked of Object.keys(sent)) expect(arrived[asked], asked).to.deep.equal(sent[asked]);
  });

  it('is not exported if the policy of the agent refuses it', async () => {
    await writeFile(join(data.agent.dataDir, 'policy.json'), JSON.stringify({ export: false }));
    data.agent.serving.reloadPolicy();
    const { folder } = await install();
    const out = join(folder, 'refused');
    const refused = await data.run('tenants', 'export-data', '--out', out, '--json');
    expect([refused.code, refused.stderr]).to.satisfy(
      ([code, text]: [number, string]) =>
        code === 1 && text.includes('TENANT_DATA_REFUSED') && text.includes('the policy of the agent refuses'),
    );
    expect(existsSync(out)).to.equal(false);
    const going = await data.org.asOwner.post(
      '/contracts',
      aContract({ subjectId: data.org.subjectId, ownerId: data.org.owner.id }),
    );
    expect(going.status, going.text).to.equal(201);
  });
});
