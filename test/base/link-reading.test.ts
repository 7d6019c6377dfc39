import { expect } from 'chai';
import { AgentReport, Hello, Welcome } from '../../data-plane-agent/base/link/messages.js';
import { newerToo } from '../../data-plane-agent/base/link/reading.js';

const hello = {
  instanceId: 'instance',
  bootId: 'boot',
  sequence: 1,
  version: '9.0.0',
  protocols: { min: 1, max: 2 },
  operations: 'hash',
  schema: '0001',
  report: {
    components: [{ kind: 'database', provider: 'sqlite', location: null, state: 'up' }],
    outboxDue: false,
  },
};

describe('messages of a newer program', () => {
  it('are read without the fields that this program does not know', () => {
    const newer = {
      ...hello,
      features: ['a'],
      protocols: { ...hello.protocols, preferred: 2 },
      report: { ...hello.report, load: 0.5 },
    };
    expect(newerToo(Hello)(newer)).to.deep.equal({ ok: true, value: hello });
  });

  it('are read without components of an unknown kind or provider', () => {
    const components = [
      ...hello.report.components,
      { kind: 'search_index', provider: 'sqlite', location: null, state: 'up' },
      { kind: 'object_storage', provider: 'another_cloud', location: null, state: 'up' },
      { kind: 'malware_scanner', provider: 'none', location: null, state: 'unknown', signatures: 3 },
    ];
    expect(newerToo(AgentReport)({ components, outboxDue: true })).to.deep.equal({
      ok: true,
      value: {
        components: [
          ...hello.report.components,
          { kind: 'malware_scanner', provider: 'none', location: null, state: 'unknown' },
        ],
        outboxDue: true,
      },
    });
  });

  it('are refused if a known field is missing or has another form', () => {
    const { sequence: _, ...without } = hello;
    for (const [schema, value] of [
      [Hello, without],
      [Hello, { ...hello, protocols: 1 }],
      [Hello, []],
      [Hello, null],
      [Welcome, hello],
    ] as const)
      expect(newerToo(schema)(value)).to.have.property('ok', false);
  });
});
