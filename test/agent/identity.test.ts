import { expect } from 'chai';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { identityFiles, IDENTITY_FILES } from '../../data-plane-agent/agent/identity-files.js';
import { openIdentity, storeJoined } from '../../data-plane-agent/agent/identity.js';
import { lockDataDir } from '../../data-plane-agent/agent/process-lock.js';
import { writeWhole } from '../../data-plane-agent/agent/stored-files.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { newLinkKey, type LinkKeyPair } from '../../data-plane-agent/base/link/keys.js';
import type { Joined } from '../../data-plane-agent/base/link/messages.js';
import { CONTROL_PLANE, linkedTenant } from '../support/agent.js';

describe('the identity of an agent', () => {
  let dataDir: string;
  let joined: Joined;
  let key: LinkKeyPair;
  const instanceId = newId();

  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'duebook-identity-'));
    key = await newLinkKey();
    joined = {
      connectionId: newId(),
      controlPlane: CONTROL_PLANE,
      accessMode: 'outbound',
      tenant: linkedTenant(),
      keys: [(await newLinkKey()).publicJwk],
    };
  });
  afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

  const files = () => identityFiles(dataDir);
  const store = () => storeJoined(files(), { joined, instanceId, key });
  const faultOf = async (): Promise<{ code: string; message: string }> =>
    openIdentity(files()).then(
      () => ({ code: 'none', message: '' }),
      (error: unknown) => error as { code: string; message: string },
    );

  it('is stored in files that only their owner can read', async () => {
    store();
    const folder = join(dataDir, 'identity');
    const modes = [folder, ...readdirSync(folder).map((name) => join(folder, name))].map((path) =>
      (statSync(path).mode & 0o777).toString(8),
    );
    expect(modes).to.deep.equal(['700', ...readdirSync(folder).map(() => '600')]);
    const identity = await openIdentity(files());
    expect([identity.connectionId, identity.controlPlane, identity.tenantId, identity.instanceId]).to.deep.equal([
      joined.connectionId,
      CONTROL_PLANE,
      joined.tenant.id,
      instanceId,
    ]);
    expect(identity.signer().kid).to.equal(key.kid);
  });

  for (const [what, mode, path] of [
    ['a file that others can read', 0o640, IDENTITY_FILES.key],
    ['a folder that others can open', 0o755, ''],
  ] as const) {
    it(`is refused with ${what}, naming the command that corrects it`, async () => {
      store();
      const at = join(dataDir, 'identity', path);
      chmodSync(at, mode);
      const { code, message } = await faultOf();
      expect(code).to.equal('IDENTITY_READABLE');
      expect(message).to.contain(`chmod ${path === '' ? 700 : 600} ${at}`);
    });
  }

  it('is refused without a join, after an interrupted join, and when a file is damaged or missing', async () => {
    expect((await faultOf()).code).to.equal('NOT_JOINED');
    files().write('joining', { instanceId, key });
    const interrupted = await faultOf();
    expect(interrupted.code).to.equal('JOIN_INTERRUPTED');
    expect(interrupted.message).to.contain('new join token');
    store();
    writeFileSync(files().pathOf('tenant'), '{"id": 1}');
    expect((await faultOf()).code).to.equal('IDENTITY_DAMAGED');
    rmSync(files().pathOf('tenant'));
    expect((await faultOf()).code).to.equal('IDENTITY_DAMAGED');
  });

  it('counts as not joined until the last file of a join is written, whichever write is interrupted', async () => {
    const written: string[] = [];
    for (let crashAt = 0; crashAt < 5; crashAt += 1) {
      rmSync(join(dataDir, 'identity'), { recursive: true, force: true });
      files().write('joining', { instanceId, key });
      let count = 0;
      const crashing = identityFiles(dataDir, {
        write: (path, content) => {
          if (count === crashAt) throw new Error('the power failed');
          count += 1;
          written.push(path);
          writeWhole(path, content);
        },
      });
      expect(() => storeJoined(crashing, { joined, instanceId, key })).to.throw('the power failed');
      expect((await faultOf()).code, `a crash at write ${crashAt}`).to.equal('JOIN_INTERRUPTED');
    }
    store();
    expect((await faultOf()).code).to.equal('none');
  });

  it('keeps its former content when a write is interrupted', () => {
    const path = join(dataDir, 'file');
    writeWhole(path, 'former');
    // What a crash before the renaming leaves behind.
    writeFileSync(`${path}.abc.tmp`, 'half');
    expect(readFileSync(path, 'utf8')).to.equal('former');
    writeWhole(path, 'next');
    expect(readFileSync(path, 'utf8')).to.equal('next');
  });

  it('gives the same number to sessions until one is confirmed, also after a restart', async () => {
    store();
    const first = await openIdentity(files());
    expect([await first.nextSequence(), await first.nextSequence()]).to.deep.equal([1, 1]);
    const restarted = await openIdentity(files());
    expect(await restarted.nextSequence()).to.equal(1);
    await restarted.confirmSequence(1);
    expect(await restarted.nextSequence()).to.equal(2);
    // An old confirmation changes nothing.
    await restarted.confirmSequence(1);
    expect(await (await openIdentity(files())).nextSequence()).to.equal(2);
  });

  it('accepts the keys that were pinned, exactly, and never none', async () => {
    store();
    const identity = await openIdentity(files());
    const [former, next] = [joined.keys[0], await newLinkKey()];
    expect(await identity.accepts(next.kid)).to.equal(undefined);
    await identity.pin([next.publicJwk]);
    expect(await identity.accepts(next.kid)).not.to.equal(undefined);
    expect(JSON.stringify(files().read('pinned'))).not.to.contain(former?.x);
    expect(await (await openIdentity(files())).accepts(next.kid)).not.to.equal(undefined);
    const failed: unknown = await identity.pin([]).catch((error: unknown) => error);
    expect(failed).to.be.instanceOf(Error);
  });

  it('signs with the key that another process has put in its place', async () => {
    store();
    const identity = await openIdentity(files());
    expect(identity.signer().kid).to.equal(key.kid);
    const next = await newLinkKey();
    files().write('key', { instanceId, current: next, next: null });
    expect(identity.signer().kid).to.equal(next.kid);
  });

  it('stores changed settings of its organisation, and refuses those of another one', async () => {
    store();
    const identity = await openIdentity(files());
    identity.setTenant({ ...joined.tenant, reminderHour: 11 });
    expect((await openIdentity(files())).tenant.reminderHour).to.equal(11);
    expect(() => identity.setTenant(linkedTenant())).to.throw('another organisation');
  });

  it('is locked by one process', () => {
    const lock = lockDataDir(dataDir);
    expect(() => lockDataDir(dataDir)).to.throw('another duebook-agent uses');
    lock.release();
    lockDataDir(dataDir).release();
    expect(existsSync(join(dataDir, 'identity', 'lock'))).to.equal(true);
  });
});
