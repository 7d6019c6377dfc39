import { randomBytes } from 'node:crypto';
import { systemClock } from '../../data-plane-agent/base/clock.js';
import { sha256Hex } from '../../data-plane-agent/base/secrets.js';
import { createLocalDataPlane } from '../../data-plane-agent/plane/local/index.js';
import { OPERATIONS } from '../../data-plane-agent/plane/operations/index.js';
import { makeMember, OPERATOR, PASSWORD, type MadeTenant } from '../support/accounts.js';
import { codeOf } from '../support/authenticator-app.js';
import { softwareAuthenticator, type CreationOptions, type RequestOptions } from '../support/authenticator.js';
import { beginCalendar, connectCalendar } from '../support/calendar.js';
import { sharedCalendar } from '../support/calendar-provider.js';
import type { Answer, Client } from '../support/http.js';
import { ofRows } from '../support/import-samples.js';
import { diesBefore, interruptedDatabase } from '../support/interrupted.js';
import { beginSso, exchangeSso, SERVER_URL, sharedOidc } from '../support/oidc.js';
import { aCall } from '../support/plane.js';
import { aContract } from '../support/samples.js';
import type { TestServer } from '../support/server.js';
import { tokenIn, type MailServer } from '../support/smtp.js';

/** Secrets that were issued, shown or entered, by their kind. */
export type Canaries = Map<string, string>;

/** Uses every function that issues, shows or accepts a secret, and leaves one of each that is still valid. */
export async function issueEverything({
  server,
  mail,
  org: { tenant, owner, subjectId },
  canaries,
}: {
  server: TestServer;
  mail: MailServer;
  org: MadeTenant;
  canaries: Canaries;
}): Promise<void> {
  const { client, services } = server;
  const slug = tenant.slug;
  const keep = (what: string, secret: string | undefined): string => {
    if (secret === undefined) throw new Error(`there is no ${what}`);
    canaries.set(what, secret);
    return secret;
  };
  const ok = <T>(answer: Answer<T>): T => {
    if (answer.status > 302) throw new Error(`${answer.status}: ${answer.text}`);
    return answer.body;
  };
  const session = (
    way: string,
    { accessToken, refreshToken }: { accessToken: string; refreshToken: string },
  ): Client => {
    keep(`access token, ${way}`, accessToken);
    keep(`refresh token, ${way}`, refreshToken);
    return client.as(accessToken);
  };
  const mailed = async (to: string) => {
    await server.schedules.run('mail');
    await server.schedules.run('mail'); // the first call may have joined a round that had already read the outbox
    return mail.last(to);
  };
  const password = (what: string) => keep(`password, ${what}`, `Secret-${randomBytes(9).toString('base64url')}-9`);
  const login = async (email: string, secret: string, more: object = {}) =>
    ok(
      await client.post<{ accessToken: string; refreshToken: string }>('/auth/login', {
        tenantSlug: slug,
        email,
        password: secret,
        ...more,
      }),
    );

  // Passwords: a correct one, wrong ones, and one entered into another field.
  const asOwner = session('login', await login(owner.email, keep('password, owner', PASSWORD)));
  await client.post('/auth/login', { tenantSlug: slug, email: owner.email, password: password('wrong') });
  await client.post('/auth/login', {
    tenantSlug: slug,
    email: `${password('in place of the email').toLowerCase()}@x.test`,
    password: 'whatever',
  });
  canaries.set(
    'password, in place of the email',
    (canaries.get('password, in place of the email') ?? '').toLowerCase(),
  );
  const first = await login(owner.email, PASSWORD);
  session(
    'refreshed',
    ok(
      await client.post<typeof first>('/auth/refresh', {
        refreshToken: keep('refresh token, replaced', first.refreshToken),
      }),
    ),
  );
  await client.post('/auth/refresh', { refreshToken: first.refreshToken });
  await client.get('/auth/me', {
    token: keep('token that is none', `eyJhbGciOiJub25lIn0.${randomBytes(20).toString('base64url')}.x`),
  });

  // Registration, by a code and without.
  const account = (name: string) => ({
    tenantName: name,
    tenantSlug: `${name}-${randomBytes(4).toString('hex')}`,
    adminName: 'Ann Admin',
    email: `ann@${name}.test`,
    password: password(name),
  });
  session('registration', ok(await client.post<typeof first>('/auth/register', account('canary-free'))));
  const [used, open] = await services.codes.issue({ planCode: 'business', count: 2, expiresAt: null }, OPERATOR);
  keep('redeem code, open', open?.code);
  session(
    'redeemed',
    ok(
      await client.post<typeof first>('/auth/redeem', {
        ...account('canary-paid'),
        code: keep('redeem code, used', used?.code),
      }),
    ),
  );

  // A second factor: the authenticator's secret and codes, recovery codes, a code by mail.
  const offered = ok(await asOwner.post<{ secret: string }>('/auth/mfa/enroll/start'));
  const secret = keep('secret of an authenticator', offered.secret);
  const code = keep('code of an authenticator', codeOf({ secret, at: Date.now() }));
  const { recoveryCodes } = ok(
    await asOwner.post<{ recoveryCodes: string[] }>('/auth/mfa/enroll/confirm', { secret, code }),
  );
  recoveryCodes.forEach((recoveryCode, index) => keep(`recovery code ${index + 1}`, recoveryCode));
  session('recovery code', await login(owner.email, PASSWORD, { mfaCode: recoveryCodes[0] }));
  ok(await client.post('/auth/login/mfa/email', { tenantSlug: slug, email: owner.email, password: PASSWORD }));
  keep('code by mail', /(?<!\d)\d{6}(?!\d)/.exec((await mailed(owner.email)).parsed.text ?? '')?.[0]);

  // A passkey.
  const authenticator = softwareAuthenticator({ origin: SERVER_URL });
  const registration = ok(await asOwner.post<{ options: CreationOptions }>('/auth/passkeys/register/options'));
  keep('challenge of a registration', registration.options.challenge);
  ok(await asOwner.post('/auth/passkeys/register/verify', { response: authenticator.create(registration.options) }));
  const askPasskey = async () =>
    ok(
      await client.post<{ flowId: string; options: RequestOptions }>('/auth/passkeys/login/options', {
        tenantSlug: slug,
        email: owner.email,
      }),
    );
  const asked = await askPasskey();
  session(
    'passkey',
    ok(
      await client.post<typeof first>('/auth/passkeys/login/verify', {
        flowId: keep('flow of a passkey, used', asked.flowId),
        response: authenticator.get(asked.options),
      }),
    ),
  );
  const openFlow = await askPasskey();
  keep('flow of a passkey, open', openFlow.flowId);
  keep('challenge of a passkey, open', openFlow.options.challenge);

  // Single sign-on: state, nonce and the browser's cookie, and the codes that are exchanged for tokens.
  const provider = await sharedOidc();
  const member = await makeMember(services, { tenant }, { roleCode: 'sales' });
  provider.account = { sub: 'canary-subject', email: member.email, email_verified: true, name: 'Sam' };
  const bySso = async (which: string): Promise<string> => {
    const { finish, cookie } = await beginSso(client, { provider, query: { tenantSlug: slug } });
    keep(`cookie of a sign-on, ${which}`, cookie.split('=')[1]);
    const end = new URL((await finish()).headers.get('location') ?? '', SERVER_URL);
    return keep(`code of a sign-on, ${which}`, end.searchParams.get('code') ?? undefined);
  };
  session('sign-on', ok(await exchangeSso<typeof first>(client, await bySso('exchanged'))));
  await bySso('open');
  const begun = await client.get('/auth/sso/corp/start', { query: { tenantSlug: slug } });
  const to = new URL(begun.headers.get('location') ?? '');
  for (const name of ['state', 'nonce']) keep(`${name} of a sign-on, open`, to.searchParams.get(name) ?? undefined);

  // A calendar: tokens of the provider, and the state and cookie of a connection that is being made.
  const calendar = await sharedCalendar();
  await connectCalendar(asOwner, calendar, calendar.account ?? undefined);
  keep('access token of a calendar', calendar.issued.accessToken);
  keep('refresh token of a calendar', calendar.issued.refreshToken);
  keep('client secret of a calendar', calendar.env['CALENDAR_CLIENT_SECRET']);
  const connecting = await beginCalendar(asOwner, { provider: calendar });
  keep('cookie of a calendar', connecting.cookie.split('=')[1]);
  keep('state of a calendar', connecting.back.searchParams.get('state') ?? undefined);
  keep('code of a calendar', connecting.back.searchParams.get('code') ?? undefined);

  // Invitations and resets: one used, one open, one whose mail is still queued.
  const invite = async (email: string) =>
    ok(
      await asOwner.post(
        '/tenant-admin/invitations',
        { email, roleCode: 'viewer' },
        { headers: { 'Idempotency-Key': `key-${randomBytes(6).toString('hex')}` } },
      ),
    );
  await invite('ivy@canary.test');
  const invitation = keep('token of an invitation, used', tokenIn(await mailed('ivy@canary.test')));
  session(
    'invitation',
    ok(
      await client.post<typeof first>('/auth/invitations/accept', {
        token: invitation,
        name: 'Ivy',
        password: password('invited'),
      }),
    ),
  );
  await invite('ian@canary.test');
  keep('token of an invitation, open', tokenIn(await mailed('ian@canary.test')));
  const reset = async (email: string) =>
    ok(await client.post('/auth/password-reset/request', { tenantSlug: slug, email }));
  await reset('ivy@canary.test');
  ok(
    await client.post('/auth/password-reset/confirm', {
      token: keep('token of a reset, used', tokenIn(await mailed('ivy@canary.test'))),
      tenantSlug: slug,
      password: password('reset'),
    }),
  );
  await reset(member.email);
  keep('token of a reset, open', tokenIn(await mailed(member.email)));
  mail.refuse(451);
  await invite('ida@canary.test');
  await mailed(member.email);
  ok(await client.post('/auth/login/mfa/email', { tenantSlug: slug, email: 'nobody@canary.test', password: PASSWORD }));

  // Values entered by an administrator, and an answer stored for an idempotency key.
  const channel = {
    kind: 'webhook',
    name: 'Hook',
    target: `https://hooks.example.com/${keep('token in the address of a channel', `hook-${randomBytes(12).toString('hex')}`)}`,
    secret: keep('secret of a channel', `channel-${randomBytes(12).toString('hex')}`),
  };
  ok(
    await asOwner.post('/tenant-admin/notification-channels', channel, {
      headers: { 'Idempotency-Key': 'canary-channel' },
    }),
  );
  ok(
    await asOwner.post('/contracts', aContract({ subjectId, ownerId: owner.id }), {
      headers: { 'Idempotency-Key': 'canary-contract' },
    }),
  );

  await interruptedImport(server, {
    tenantId: tenant.id,
    payeeAccount: keep('account number of an import', '6222020099988877766'),
  });

  // The keys that sign tokens, which the database contains only in encrypted form.
  const { kid } = await services.keys.rotate(OPERATOR);
  const rows = await server.foundation.platform.read({ tenantId: null }, (tx) =>
    tx.all('SELECT kid, private_sealed FROM signing_keys'),
  );
  for (const row of rows) {
    const jwk = JSON.parse(
      server.config.keyRing.openText(
        String(row['private_sealed']),
        `signing_keys.private_sealed.${String(row['kid'])}`,
      ),
    ) as { d: string };
    keep(
      row['kid'] === kid ? 'private key, active' : `private key, retiring ${sha256Hex(String(row['kid'])).slice(0, 6)}`,
      jwk.d,
    );
  }
}

/** Leaves the input of a long import whose process died before anything was entered. No job finds it during the test. */
async function interruptedImport(
  { foundation, config: { keyRing } }: TestServer,
  { tenantId, payeeAccount }: { readonly tenantId: string; readonly payeeAccount: string },
): Promise<void> {
  if (!foundation.tenant) throw new Error('this edition keeps contract data');
  const plane = createLocalDataPlane({
    operations: OPERATIONS,
    database: interruptedDatabase(foundation.tenant, diesBefore(3)),
    clock: { now: () => systemClock.now() + 3_600_000 },
    keyRing,
  });
  const rows = Array.from({ length: 60 }, () => aContract({ payeeAccount, remark: 'x'.repeat(10_000) }));
  const died = await plane
    .invoke('importContracts', { call: { ...aCall(), tenantId }, signal: undefined }, ofRows(rows))
    .then(
      () => false,
      () => true,
    );
  if (!died) throw new Error('the import was not interrupted');
}
