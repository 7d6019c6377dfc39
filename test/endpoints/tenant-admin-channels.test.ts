import { expect } from 'chai';
import { createHash } from 'node:crypto';
import type { Row } from '../../data-plane-agent/base/database/database.js';
import { newId } from '../../data-plane-agent/base/ids.js';
import { sealTargets } from '../../server/tenants/sealed-targets.js';
import { administration, type Administration } from '../support/administration.js';
import { namedFields, type DomainError, type FrameworkError } from '../support/http.js';
import { forEachServer } from '../support/server.js';

interface Channel {
  id: string;
  kind: string;
  name: string;
  target: string | null;
  enabled: boolean;
  isDefault: boolean;
  hasSecret: boolean;
}

const CHANNELS = '/tenant-admin/notification-channels';
const HOOK = 'https://hooks.example.com/services/T000/B000/sEcReT';
/** The displayed form: the host, and the beginning of the address's digest. */
const SHOWN = `https://hooks.example.com/…${createHash('sha256').update(HOOK).digest('hex').slice(0, 8)}`;

forEachServer((server) => {
  let org: Administration;
  beforeEach(async () => {
    org = await administration(server());
  });
  const add = async (body: object) => (await org.asOwner.post<Channel>(CHANNELS, body)).body;
  const list = async () => (await org.asOwner.get<Channel[]>(CHANNELS)).body;
  const defaults = async () => (await list()).filter(({ isDefault }) => isDefault).map(({ id }) => id);

  describe('notification channels', () => {
    it('are added, listed, changed and removed', async () => {
      const { status, body } = await org.asOwner.post<Channel>(CHANNELS, {
        kind: 'webhook',
        name: 'Ledger',
        target: HOOK,
      });
      expect([status, body]).to.deep.equal([
        201,
        { ...body, kind: 'webhook', name: 'Ledger', target: SHOWN, enabled: true, isDefault: true, hasSecret: false },
      ]);
      expect(await list()).to.deep.equal([body]);
      const changed = await org.asOwner.patch<Channel>(`${CHANNELS}/${body.id}`, { name: null, enabled: false });
      expect(changed.body).to.include({ name: 'webhook', enabled: false, target: SHOWN, isDefault: true });
      expect(
        (await org.asOwner.patch<FrameworkError>(`${CHANNELS}/${body.id}`, { kind: 'email' })).body.message,
      ).to.deep.equal(['kind is not a known field']);
      expect((await org.asOwner.delete(`${CHANNELS}/${body.id}`)).body).to.deep.equal({ ok: true });
      expect(await list()).to.deep.equal([]);
      for (const answer of [
        await org.asOwner.delete(`${CHANNELS}/${body.id}`),
        await org.asOwner.patch(`${CHANNELS}/${newId()}`, { name: 'x' }),
      ])
        expect(answer.status).to.equal(404);
    });

    it('with aliases are stored under the real kinds', async () => {
      const kinds = await Promise.all(
        ['chat_a', 'chat_b', 'chat_c', 'chat_d', 'chat_e', 'slack'].map(
          async (kind) => (await add({ kind, target: HOOK })).kind,
        ),
      );
      expect(kinds).to.deep.equal(['slack', 'teams', 'feishu', 'dingtalk', 'wecom', 'slack']);
      expect(
        namedFields(await org.asOwner.post<FrameworkError>(CHANNELS, { kind: 'chat_f', target: HOOK })),
      ).to.deep.equal([400, ['kind']]);
    });

    it('have one default: the first enabled one, until another is chosen', async () => {
      const off = await add({ kind: 'email', enabled: false });
      expect(off.isDefault).to.equal(false);
      const first = await add({ kind: 'email' });
      const second = await add({ kind: 'slack', target: HOOK });
      expect(await defaults()).to.deep.equal([first.id]);
      expect(
        (await org.asOwner.patch<Channel>(`${CHANNELS}/${second.id}`, { isDefault: true })).body.isDefault,
      ).to.equal(true);
      expect(await defaults()).to.deep.equal([second.id]);
      const third = await add({ kind: 'email', isDefault: true });
      expect(await defaults()).to.deep.equal([third.id]);
      // Reminders are never redirected automatically.
      await org.asOwner.delete(`${CHANNELS}/${third.id}`);
      expect(await defaults()).to.deep.equal([]);
      await org.asOwner.patch(`${CHANNELS}/${off.id}`, { enabled: true });
      expect(await defaults()).to.deep.equal([off.id]);
    });

    it('that are disabled cannot become the default', async () => {
      const first = await add({ kind: 'email' });
      const off = await add({ kind: 'email', enabled: false });
      expect(
        namedFields(await org.asOwner.patch<FrameworkError>(`${CHANNELS}/${off.id}`, { isDefault: true })),
      ).to.deep.equal([400, ['isDefault']]);
      expect(
        namedFields(
          await org.asOwner.patch<FrameworkError>(`${CHANNELS}/${off.id}`, { isDefault: true, enabled: false }),
        ),
      ).to.deep.equal([400, ['isDefault']]);
      expect(
        namedFields(
          await org.asOwner.post<FrameworkError>(CHANNELS, { kind: 'email', enabled: false, isDefault: true }),
        ),
      ).to.deep.equal([400, ['isDefault']]);
      expect(await defaults()).to.deep.equal([first.id]);
      expect(
        (await org.asOwner.patch<Channel>(`${CHANNELS}/${off.id}`, { isDefault: true, enabled: true })).body.isDefault,
      ).to.equal(true);
    });

    it('remain the default when disabled, also in a repeated request, until another is made the default', async () => {
      const first = await add({ kind: 'email' });
      const path = `${CHANNELS}/${first.id}`;
      const off = await org.asOwner.patch<Channel>(path, { name: first.name, enabled: false, isDefault: true });
      expect([off.status, off.body.enabled, off.body.isDefault]).to.deep.equal([200, false, true]);
      expect(
        (await org.asOwner.patch<Channel>(path, { name: 'Renamed', enabled: false, isDefault: true })).status,
      ).to.equal(200);
      const second = await add({ kind: 'email' });
      expect(await defaults()).to.deep.equal([first.id]);
      expect((await org.asOwner.patch<Channel>(`${CHANNELS}/${second.id}`, { isDefault: true })).status).to.equal(200);
      expect(namedFields(await org.asOwner.patch<FrameworkError>(path, { isDefault: true }))).to.deep.equal([
        400,
        ['isDefault'],
      ]);
      expect(await defaults()).to.deep.equal([second.id]);
    });

    it('cannot be disabled and made the default concurrently', async () => {
      await add({ kind: 'email' });
      for (let round = 0; round < 5; round++) {
        const { id } = await add({ kind: 'email' });
        const [off, chosen] = await Promise.all(
          [{ enabled: false }, { isDefault: true }].map((body) => org.asOwner.patch(`${CHANNELS}/${id}`, body)),
        );
        // Either it becomes the default and is then disabled, and stays the default, or the other request is refused.
        expect(off?.status).to.equal(200);
        expect(await defaults(), `round ${round}`).to.have.length(1);
        expect((await defaults()).includes(id)).to.equal(chosen?.status === 200);
        expect(chosen?.status).to.be.oneOf([200, 400]);
      }
    });

    describe('and transitions', () => {
      let transitions: string;
      beforeEach(async () => {
        const { body: template } = await org.asOwner.post<{ id: string }>('/contract-config/lifecycle/templates', {
          code: 'short',
          name: 'Short',
        });
        for (const [code, category, order] of [
          ['draft', 'draft', 1],
          ['running', 'active', 2],
        ])
          await org.asOwner.post(`/contract-config/lifecycle/templates/${template.id}/stages`, {
            code,
            name: code,
            category,
            order,
          });
        transitions = `/contract-config/lifecycle/templates/${template.id}/transitions`;
      });
      const notifyBy = (channelId: string, code: string) =>
        org.asOwner.post<{ id: string }>(transitions, {
          code,
          name: code,
          fromStageCode: 'draft',
          toStageCode: 'running',
          effects: { notifyChannelId: channelId },
        });
      const remove = (id: string, headers: Record<string, string> = {}) =>
        org.asOwner.delete<DomainError>(`${CHANNELS}/${id}`, undefined, { headers });

      it('that notify one keep it, and are listed; without them it is deleted', async () => {
        const channel = await add({ kind: 'email' });
        const made = [await notifyBy(channel.id, 'start'), await notifyBy(channel.id, 'go')];
        const refused = await remove(channel.id);
        expect([refused.status, refused.body.error.code, refused.body.error.details]).to.deep.equal([
          409,
          'CHANNEL_IN_USE',
          { transitionCodes: ['go', 'start'] },
        ]);
        expect((await list()).map(({ id }) => id)).to.deep.equal([channel.id]);
        for (const {
          body: { id },
        } of made)
          expect(
            (await org.asOwner.patch(`/contract-config/lifecycle/transitions/${id}`, { effects: {} })).status,
          ).to.equal(200);
        expect((await remove(channel.id)).status).to.equal(200);
        expect((await notifyBy(channel.id, 'again')).status).to.equal(422);
        expect((await remove(channel.id)).status).to.equal(404);
      });

      it('may use one whose removal was refused, and a repeat under its key is refused again', async () => {
        const channel = await add({ kind: 'email' });
        const {
          body: { id },
        } = await notifyBy(channel.id, 'start');
        const key = { 'idempotency-key': newId() };
        expect((await remove(channel.id, key)).status).to.equal(409);
        expect((await notifyBy(channel.id, 'more')).status).to.equal(201);
        await org.asOwner.patch(`/contract-config/lifecycle/transitions/${id}`, { effects: {} });
        const repeat = await remove(channel.id, key);
        expect([repeat.status, repeat.body.error.details, repeat.headers.get('idempotency-replayed')]).to.deep.equal([
          409,
          { transitionCodes: ['start'] },
          'true',
        ]);
        expect((await notifyBy(channel.id, 'most')).status, 'a repeated request closes nothing').to.equal(201);
      });

      it('are set to notify one before its removal or not at all', async () => {
        for (let round = 0; round < 6; round++) {
          const { id } = await add({ kind: 'email' });
          const [removed, ...reported] = await Promise.all([
            remove(id),
            notifyBy(id, `a${round}`),
            notifyBy(id, `b${round}`),
          ]);
          const named = reported.filter(({ status }) => status === 201).length;
          for (const { status } of reported) expect(status, `round ${round}`).to.be.oneOf([201, 422]);
          expect(removed.status, `round ${round}: ${named} notify it`).to.equal(named > 0 ? 409 : 200);
          expect((await list()).some((channel) => channel.id === id)).to.equal(named > 0);
        }
      });
    });

    it('that are all made the default concurrently leave one', async () => {
      const channels = await Promise.all([1, 2, 3, 4].map(() => add({ kind: 'email' })));
      const answers = await Promise.all(
        channels.map(({ id }) => org.asOwner.patch(`${CHANNELS}/${id}`, { isDefault: true })),
      );
      expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200]);
      expect(await defaults()).to.have.length(1);
    });

    it('need a target: an https address, or any number of mail addresses', async () => {
      for (const kind of ['webhook', 'slack', 'teams', 'feishu', 'dingtalk', 'wecom'])
        for (const target of [
          undefined,
          null,
          '',
          'books@example.com',
          'ftp://example.com',
          'http://example.com/hook',
        ]) {
          expect(
            namedFields(await org.asOwner.post<FrameworkError>(CHANNELS, { kind, target })),
            `${kind} ${String(target)}`,
          ).to.deep.equal([400, ['target']]);
        }
      expect((await add({ kind: 'email' })).target).to.equal(null);
      expect((await add({ kind: 'email', target: 'A@Example.com,b@example.com , a@example.com' })).target).to.equal(
        'a@example.com, b@example.com',
      );
      for (const target of ['nobody', 'a@example.com, nobody', 'a@example.com;b@example.com', 'A <a@example.com>'])
        expect(
          namedFields(await org.asOwner.post<FrameworkError>(CHANNELS, { kind: 'email', target })),
          target,
        ).to.deep.equal([400, ['target']]);
      const hook = await add({ kind: 'webhook', target: HOOK });
      expect(
        namedFields(await org.asOwner.patch<FrameworkError>(`${CHANNELS}/${hook.id}`, { target: null })),
      ).to.deep.equal([400, ['target']]);
    });

    it('are refused with a private, loopback, link-local or metadata address, in any notation', async () => {
      const refused = [
        'https://127.0.0.1/x',
        'https://127.1/x',
        'https://2130706433/',
        'https://0x7f000001/',
        'https://0177.0.0.1/',
        'https://[::1]/',
        'https://[::ffff:127.0.0.1]/',
        'https://10.0.0.8/',
        'https://172.16.3.4/',
        'https://192.168.1.1/',
        'https://169.254.169.254/latest/meta-data',
        'https://[fd00:ec2::254]/',
        'https://100.100.100.200/',
        'https://[fe80::1]/',
        'https://0.0.0.0/',
        'https://user:pass@example.com/',
        'https://１２７.0.0.1/',
        'http://127.0.0.1:9/',
      ];
      for (const target of refused)
        expect(
          namedFields(await org.asOwner.post<FrameworkError>(CHANNELS, { kind: 'webhook', target })),
          target,
        ).to.deep.equal([400, ['target']]);
      const hook = await add({ kind: 'webhook', target: HOOK });
      expect(
        namedFields(await org.asOwner.patch<FrameworkError>(`${CHANNELS}/${hook.id}`, { target: 'https://10.0.0.8/' })),
      ).to.deep.equal([400, ['target']]);
      expect((await list()).map(({ target }) => target)).to.deep.equal([SHOWN]);
    });

    it('have a secret that is encrypted for its row, and never shown again', async () => {
      const secret = `whsec_${'c2VjcmV0'.repeat(4)}`;
      const channel = await add({ kind: 'webhook', target: HOOK, secret });
      const path = `${CHANNELS}/${channel.id}`;
      expect(channel.hasSecret).to.equal(true);
      const stored = async () =>
        server().foundation.platform.read({ tenantId: null }, (tx) =>
          tx.get('SELECT secret_sealed FROM notification_channels WHERE id = ?', [channel.id]),
        );
      const sealed = String((await stored())?.['secret_sealed']);
      expect(
        server().config.keyRing.openText(sealed, `notification_channels.secret_sealed.${org.tenant.id}.${channel.id}`),
      ).to.equal(secret);
      expect(() =>
        server().config.keyRing.openText(sealed, `notification_channels.secret_sealed.${org.tenant.id}.${newId()}`),
      ).to.throw();
      // Neither an empty nor an omitted secret deletes it; only `clearSecret` does.
      for (const body of [{ name: 'Renamed' }, { secret: null }, { secret: '' }, { clearSecret: false }])
        expect((await org.asOwner.patch<Channel>(path, body)).body.hasSecret, JSON.stringify(body)).to.equal(true);
      expect(
        namedFields(await org.asOwner.patch<FrameworkError>(path, { secret: 'other', clearSecret: true })),
      ).to.deep.equal([400, ['clearSecret']]);
      expect(
        namedFields(
          await org.asOwner.post<FrameworkError>(CHANNELS, {
            kind: 'webhook',
            target: HOOK,
            secret,
            clearSecret: true,
          }),
        ),
      ).to.deep.equal([400, ['clearSecret']]);
      expect((await org.asOwner.patch<Channel>(path, { secret: 'another one' })).body.hasSecret).to.equal(true);
      expect((await org.asOwner.patch<Channel>(path, { clearSecret: true })).body.hasSecret).to.equal(false);
      expect((await stored())?.['secret_sealed']).to.equal(null);
      const reported = JSON.stringify(await org.audit());
      for (const hidden of [secret, 'another one', 'sEcReT', '/services/']) expect(reported).not.to.contain(hidden);
      expect(JSON.stringify(server().logged)).not.to.contain(secret);
    });
  });

  describe('the addresses of notification channels, which carry tokens', () => {
    const rowOf = async (id: string) =>
      server().foundation.platform.read({ tenantId: null }, (tx) =>
        tx.get('SELECT * FROM notification_channels WHERE id = ?', [id]),
      );
    const opened = (row: Row | undefined) =>
      server().config.keyRing.openText(
        String(row?.['target_sealed']),
        `notification_channels.target_sealed.${org.tenant.id}.${String(row?.['id'])}`,
      );
    /** As stored by a server that did not encrypt addresses yet. */
    const storeUnencrypted = async ({ id }: Channel) => {
      await server().foundation.platform.write({ tenantId: null }, (tx) =>
        tx.run('UPDATE notification_channels SET target = ?, target_sealed = NULL WHERE id = ?', [HOOK, id]),
      );
    };

    it('are encrypted for their row, and shown only up to their host; mail addresses are shown in full', async () => {
      for (const kind of ['webhook', 'slack', 'teams', 'feishu', 'dingtalk', 'wecom']) {
        const channel = await add({ kind, target: HOOK });
        expect(channel.target, kind).to.equal(SHOWN);
        const row = await rowOf(channel.id);
        expect(opened(row)).to.equal(HOOK);
        expect(JSON.stringify(row)).not.to.contain('sEcReT');
        expect((await org.asOwner.delete(`${CHANNELS}/${channel.id}`)).status).to.equal(200);
      }
      const mail = await add({ kind: 'email', target: 'books@example.com' });
      expect([mail.target, (await rowOf(mail.id))?.['target_sealed']]).to.deep.equal(['books@example.com', null]);
      for (const place of [await list(), await org.audit(), server().logged])
        expect(JSON.stringify(place)).not.to.contain('sEcReT').and.not.to.contain('targetSealed');
    });

    it('stay unchanged when the displayed form is sent back, and change with another one', async () => {
      const channel = await add({ kind: 'webhook', target: HOOK });
      const path = `${CHANNELS}/${channel.id}`;
      const before = await rowOf(channel.id);
      for (const target of [SHOWN, HOOK])
        expect((await org.asOwner.patch(path, { target })).body).to.deep.equal(channel);
      expect(await rowOf(channel.id), 'nothing was written').to.deep.equal(before);
      const other = `${HOOK}2`;
      const changed = (await org.asOwner.patch<Channel>(path, { target: other })).body;
      expect(changed.target)
        .to.match(/^https:\/\/hooks\.example\.com\/…[0-9a-f]{8}$/)
        .and.not.to.equal(SHOWN);
      expect(opened(await rowOf(channel.id))).to.equal(other);
      // The displayed form of one address is not accepted for another channel.
      for (const answer of [
        await org.asOwner.patch<FrameworkError>(path, { target: SHOWN }),
        await org.asOwner.post<FrameworkError>(CHANNELS, { kind: 'slack', target: SHOWN }),
      ])
        expect(namedFields(answer)).to.deep.equal([400, ['target']]);
      const [entry] = (await org.audit()).filter(({ action }) => action === 'channel_changed');
      expect(entry?.changes).to.deep.equal({ target: { from: SHOWN, to: changed.target } });
    });

    it('that were stored unencrypted are not shown either, and are encrypted by a change, and at start', async () => {
      const [one, two] = [await add({ kind: 'slack', target: HOOK }), await add({ kind: 'teams', target: HOOK })];
      await storeUnencrypted(one);
      await storeUnencrypted(two);
      expect((await list()).map(({ target }) => target)).to.deep.equal([SHOWN, SHOWN]);
      await org.asOwner.patch(`${CHANNELS}/${one.id}`, { name: 'Renamed' });
      expect([(await rowOf(one.id))?.['target'], opened(await rowOf(one.id))]).to.deep.equal([SHOWN, HOOK]);
      const { platform } = server().foundation;
      const { keyRing } = server().config;
      // By several servers that start concurrently.
      await Promise.all([sealTargets(platform, keyRing), sealTargets(platform, keyRing)]);
      expect([(await rowOf(two.id))?.['target'], opened(await rowOf(two.id))]).to.deep.equal([SHOWN, HOOK]);
      expect(await sealTargets(platform, keyRing)).to.equal(0);
      await storeUnencrypted(two);
      await org.asOwner.delete(`${CHANNELS}/${two.id}`);
      expect(JSON.stringify(await org.audit())).not.to.contain('sEcReT');
    });
  });
});
