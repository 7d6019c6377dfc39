import type { Row, Transaction } from '../../data-plane-agent/base/database/database.js';
import { keepNewest } from './open-flows.js';
import { numberOf, numberOrNull, textOf, textOrNull } from './rows.js';

/**
 * Which client may exchange the code of a sign-in: the browser that started it, or the program at the loopback address
 * that received the code.
 */
export type BoundTo = 'browser' | 'loopback';

/** A sign-in at a provider. */
export interface SsoFlow {
  readonly stateHash: string;
  readonly tenantId: string;
  readonly providerId: string;
  /** The digest of the browser's cookie. */
  readonly browserHash: string;
  readonly secretsSealed: string;
  readonly next: string;
  readonly boundTo: BoundTo;
  readonly expiresAt: number;
  readonly createdAt: number;
}

/** Pending sign-ins. */
export class SsoFlowStore {
  constructor(private readonly tx: Transaction) {}

  /** Deletes expired flows too. Only the newest flows of a client are kept. */
  async insert({ asker, ...flow }: SsoFlow & { readonly asker: string }): Promise<void> {
    await this.tx.run('DELETE FROM sso_flows WHERE expires_at <= ?', [flow.createdAt]);
    await this.tx.run(
      'INSERT INTO sso_flows (state_hash, tenant_id, provider_id, browser_hash, secrets_sealed, next, bound_to, expires_at, created_at, asker) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
      [
        flow.stateHash,
        flow.tenantId,
        flow.providerId,
        flow.browserHash,
        flow.secretsSealed,
        flow.next,
        flow.boundTo,
        flow.expiresAt,
        flow.createdAt,
        asker,
      ],
    );
    await keepNewest(this.tx, { table: 'sso_flows', asker });
  }

  /** Invalidates the state, whether or not it is valid; of concurrent requests, one gets it. */
  async take(stateHash: string): Promise<SsoFlow | undefined> {
    const row = await this.tx.get(
      'DELETE FROM sso_flows WHERE state_hash = ? RETURNING state_hash, tenant_id, provider_id, browser_hash, secrets_sealed, next, bound_to, expires_at, created_at',
      [stateHash],
    );
    return row && flowOf(row);
  }
}

/** Links between members and the subjects of providers. */
export class SsoIdentityStore {
  constructor(
    private readonly tx: Transaction,
    private readonly tenantId: string,
  ) {}

  async memberOf({ issuer, subject }: { issuer: string; subject: string }): Promise<string | undefined> {
    const row = await this.tx.get(
      'SELECT member_id FROM sso_identities WHERE tenant_id = ? AND issuer = ? AND subject = ?',
      [this.tenantId, issuer, subject],
    );
    return row && textOf(row, 'member_id');
  }

  /** Returns false if the subject is linked, or the member to another subject of the issuer. */
  async link({
    issuer,
    subject,
    memberId,
    at,
  }: {
    issuer: string;
    subject: string;
    memberId: string;
    at: number;
  }): Promise<boolean> {
    const linked = await this.tx.run(
      'INSERT INTO sso_identities (tenant_id, issuer, subject, member_id, created_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
      [this.tenantId, issuer, subject, memberId, at],
    );
    return linked === 1;
  }
}

export interface SsoCode {
  readonly tenantId: string;
  readonly memberId: string;
  readonly boundTo: BoundTo;
  /** The digest of the cookie of the browser that it is bound to. */
  readonly browserHash: string | null;
  readonly usedAt: number | null;
  /** The session that it was exchanged for. */
  readonly sessionId: string | null;
}

/** Single-use codes that are exchanged for tokens. */
export class SsoCodeStore {
  constructor(private readonly tx: Transaction) {}

  /** Deletes codes that ended before `keptSince` too; until then a second use is detected. */
  async insert({
    codeHash,
    tenantId,
    memberId,
    boundTo,
    browserHash,
    expiresAt,
    at,
    keptSince,
  }: Omit<SsoCode, 'usedAt' | 'sessionId'> & {
    codeHash: string;
    expiresAt: number;
    at: number;
    keptSince: number;
  }): Promise<void> {
    await this.tx.run('DELETE FROM sso_codes WHERE expires_at <= ?', [keptSince]);
    await this.tx.run(
      'INSERT INTO sso_codes (code_hash, tenant_id, member_id, bound_to, browser_hash, expires_at, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
      [codeHash, tenantId, memberId, boundTo, browserHash, expiresAt, at],
    );
  }

  async find(codeHash: string): Promise<SsoCode | undefined> {
    const row = await this.tx.get(
      'SELECT tenant_id, member_id, bound_to, browser_hash, used_at, session_id FROM sso_codes WHERE code_hash = ?',
      [codeHash],
    );
    return (
      row && {
        tenantId: textOf(row, 'tenant_id'),
        memberId: textOf(row, 'member_id'),
        boundTo: boundTo(row),
        browserHash: textOrNull(row, 'browser_hash'),
        usedAt: numberOrNull(row, 'used_at'),
        sessionId: textOrNull(row, 'session_id'),
      }
    );
  }

  /** Invalidates the code. Returns false if it was used or has expired. */
  async take({ codeHash, at }: { codeHash: string; at: number }): Promise<boolean> {
    return (
      (await this.tx.run(
        'UPDATE sso_codes SET used_at = ? WHERE code_hash = ? AND used_at IS NULL AND expires_at > ?',
        [at, codeHash, at],
      )) === 1
    );
  }

  async setSession({ codeHash, sessionId }: { codeHash: string; sessionId: string }): Promise<void> {
    await this.tx.run('UPDATE sso_codes SET session_id = ? WHERE code_hash = ?', [sessionId, codeHash]);
  }
}

const flowOf = (row: Row): SsoFlow => ({
  stateHash: textOf(row, 'state_hash'),
  tenantId: textOf(row, 'tenant_id'),
  providerId: textOf(row, 'provider_id'),
  browserHash: textOf(row, 'browser_hash'),
  secretsSealed: textOf(row, 'secrets_sealed'),
  next: textOf(row, 'next'),
  boundTo: boundTo(row),
  expiresAt: numberOf(row, 'expires_at'),
  createdAt: numberOf(row, 'created_at'),
});

const boundTo = (row: Row): BoundTo => (textOf(row, 'bound_to') === 'loopback' ? 'loopback' : 'browser');
