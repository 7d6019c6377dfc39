import { expect } from 'chai';
import type { Component } from '../../data-plane-agent/base/link/messages.js';
import { CONNECTION_STATUSES, statusOf, type ConnectionStatus } from '../../server/data-planes/connection-status.js';
import { mismatches } from '../../server/data-planes/declarations.js';
import { STORED_STATUSES } from '../../server/store/connections.js';

const AT = 1_000_000_000;
const SESSIONS = {
  'no session': { connectedSince: null, lastSeenAt: AT },
  'a session, heard of now': { connectedSince: AT - 500_000, lastSeenAt: AT },
  'a session, heard of a minute ago': { connectedSince: AT - 500_000, lastSeenAt: AT - 60_000 },
  'a session, heard of earlier': { connectedSince: AT - 500_000, lastSeenAt: AT - 60_001 },
  'a session, never heard of': { connectedSince: AT - 500_000, lastSeenAt: null },
} as const;
const REPORTS = {
  nothing: null,
  'what is declared': [{ kind: 'database', provider: 'postgres', location: 'Shanghai', state: 'up' }],
  'something else': [{ kind: 'database', provider: 'sqlite', location: 'Shanghai', state: 'up' }],
} as const satisfies Record<string, readonly Component[] | null>;
type Session = keyof typeof SESSIONS;
type Report = keyof typeof REPORTS;

/** Of the connection to the agent, whatever it reported. */
function agentStatus(stored: (typeof STORED_STATUSES)[number], session: Session): ConnectionStatus {
  if (stored === 'connected')
    return session === 'a session, heard of now' || session === 'a session, heard of a minute ago'
      ? 'connected'
      : 'disconnected';
  return stored === 'revoked' || stored === 'suspended' ? stored : 'pending';
}
const COMPONENT_STATUS: Readonly<Record<Report, ConnectionStatus>> = {
  nothing: 'pending',
  'what is declared': 'connected',
  'something else': 'mismatch',
};
const KINDS = {
  agent: (stored: (typeof STORED_STATUSES)[number], session: Session) => agentStatus(stored, session),
  database: (_stored: unknown, _session: unknown, report: Report) => COMPONENT_STATUS[report],
  backup: () => 'declared' as const,
};

describe('the status of a data-plane connection', () => {
  for (const kind of ['agent', 'database', 'backup'] as const)
    for (const status of STORED_STATUSES)
      it(`of the kind ${kind}, stored as ${status}, follows from the session and the report, and the edition`, () => {
        for (const session of Object.keys(SESSIONS) as Session[])
          for (const report of Object.keys(REPORTS) as Report[]) {
            const connection = { kind, provider: 'postgres', location: 'Shanghai', status, ...SESSIONS[session] };
            const of = (linked: boolean) => statusOf(connection, { linked, at: AT, components: REPORTS[report] });
            expect([of(true), of(false)], `${session}, reported ${report}`).to.deep.equal([
              KINDS[kind](status, session, report),
              'inactive',
            ]);
            expect(CONNECTION_STATUSES).to.include(of(true));
          }
      });
});

describe('what is declared to stand behind an agent', () => {
  const declared = (kind: string, provider: string | null, location: string | null = null) => ({
    kind,
    provider,
    location,
  });
  const reported = (kind: Component['kind'], provider: Component['provider'], location: string | null = null) => ({
    kind,
    provider,
    location,
  });
  const MATCHES = [
    [declared('database', null), reported('database', 'sqlite', 'Beijing')],
    [declared('database', 'postgres'), reported('database', 'postgres', 'Beijing')],
    [declared('database', 'PostgreSQL'), reported('database', 'postgres')],
    [declared('database', 'SQLite'), reported('database', 'sqlite')],
    [declared('object_storage', 's3'), reported('object_storage', 's3')],
    [declared('object_storage', 'S3'), reported('object_storage', 'minio')],
    [declared('object_storage', 'minio', 'Shanghai'), reported('object_storage', 'minio', 'Shanghai')],
    [declared('malware_scanner', 'ClamAV'), reported('malware_scanner', 'clamav')],
    [declared('malware_scanner', 'none'), reported('malware_scanner', 'none')],
    [declared('backup', 'tape', 'Mars'), reported('database', 'sqlite')],
  ] as const;
  const DIFFERS = [
    [declared('database', 'postgres'), reported('database', 'sqlite'), ['provider', 'postgres', 'sqlite']],
    [declared('object_storage', 'minio'), reported('object_storage', 's3'), ['provider', 'minio', 's3']],
    [declared('object_storage', 's3'), reported('object_storage', 'filesystem'), ['provider', 's3', 'filesystem']],
    [declared('malware_scanner', 'clamav'), reported('malware_scanner', 'none'), ['provider', 'clamav', 'none']],
    [declared('malware_scanner', 'clamav'), reported('database', 'sqlite'), ['provider', 'clamav', null]],
    [declared('database', null, 'Shanghai'), reported('database', 'sqlite'), ['location', 'Shanghai', null]],
    [
      declared('database', null, 'Shanghai'),
      reported('database', 'sqlite', 'Beijing'),
      ['location', 'Shanghai', 'Beijing'],
    ],
  ] as const;

  for (const [one, other] of MATCHES)
    it(`matches: ${one.kind} ${one.provider} in ${one.location}, reported ${other.provider} in ${other.location}`, () => {
      expect(mismatches([one], [other])).to.deep.equal([]);
    });

  for (const [one, other, [field, wanted, found]] of DIFFERS)
    it(`differs: ${one.kind} ${one.provider} in ${one.location}, reported ${other.kind} ${other.provider} in ${other.location}`, () => {
      expect(mismatches([one], [other])).to.deep.equal([{ kind: one.kind, field, declared: wanted, reported: found }]);
    });

  it('is listed whole, by kind', () => {
    expect(
      mismatches(
        [declared('object_storage', 's3', 'Shanghai'), declared('database', 'sqlite')],
        [reported('database', 'postgres'), reported('object_storage', 'filesystem', 'Beijing')],
      ).map(({ kind, field }) => [kind, field]),
    ).to.deep.equal([
      ['database', 'provider'],
      ['object_storage', 'provider'],
      ['object_storage', 'location'],
    ]);
  });
});
