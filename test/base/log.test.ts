import { expect } from 'chai';
import { createLog } from '../../data-plane-agent/base/log.js';

function capture(level = 'debug') {
  const lines: string[] = [];
  const log = createLog({ level, name: 'test', destination: { write: (line: string) => void lines.push(line) } });
  return { log, lines, last: (): Record<string, unknown> => JSON.parse(lines.at(-1) ?? 'null') };
}

describe('the log', () => {
  it('writes one JSON line per record, with level, name and time', () => {
    const { log, lines, last } = capture('info');
    log.info({ route: 'GET /x' }, 'two\nlines');
    log.debug('below the level');
    expect(lines).to.have.length(1);
    expect(lines[0]?.trimEnd()).to.not.include('\n');
    expect(last()).to.include({ level: 30, name: 'test', route: 'GET /x', msg: 'two\nlines' });
    expect(last().time).to.match(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  });

  it('redacts secrets by name at any depth, in upper and lower case', () => {
    const { log, lines } = capture();
    const names = [
      'authorization',
      'cookie',
      'set-cookie',
      'password',
      'token',
      'refreshToken',
      'accessToken',
      'secret',
      'code',
      'mfaCode',
      'emailCode',
      'mfaSetupSecret',
      'uploadToken',
      'joinToken',
      'Authorization',
    ];
    for (const name of names) {
      log.info(
        { [name]: 'hunter2', headers: { [name]: ['hunter2'] }, request: { body: { [name]: { deep: 'hunter2' } } } },
        'tried',
      );
      log.info({ lines: [{ [name]: 'hunter2' }], a: { b: { c: { d: { e: { [name]: 'hunter2' } } } } } });
      log
        .child({ [name]: 'hunter2', req: { headers: { [name]: 'hunter2' } } })
        .child({ also: { [name]: 'hunter2' } })
        .warn('child');
    }
    expect(lines).to.have.length(3 * names.length);
    expect(lines.filter((line) => line.includes('hunter2'))).to.deep.equal([]);
    expect(lines[0]).to.include('"authorization":"[hidden]"').and.to.include('"msg":"tried"');
  });

  it('does not change other values', () => {
    const { log, last } = capture();
    log.info({ at: new Date(0), list: [1, { a: null }], status: 200, none: undefined, tokenCount: 3 });
    expect(last()).to.deep.include({
      at: '1970-01-01T00:00:00.000Z',
      list: [1, { a: null }],
      status: 200,
      tokenCount: 3,
    });
  });

  it('writes errors with stack and type, without the secrets that they contain', () => {
    const { log, lines, last } = capture();
    const error = Object.assign(new Error('refused'), {
      code: 'ECONNREFUSED',
      token: 'hunter2',
      config: { password: 'hunter2' },
    });
    log.error({ err: error }, 'failed');
    expect(last().err).to.include({ type: 'Error', message: 'refused', code: 'ECONNREFUSED', token: '[hidden]' });
    expect(last().err).to.have.property('stack').that.includes('log.test');
    log.error(error);
    log.error({ attempts: [{ cause: error }] });
    expect(lines.filter((line) => line.includes('hunter2'))).to.deep.equal([]);
    expect(lines.filter((line) => line.includes('ECONNREFUSED'))).to.have.length(3);
  });

  it('can log circular objects', () => {
    const { log, last } = capture();
    const loop: Record<string, unknown> = { password: 'hunter2' };
    loop.self = loop;
    log.info({ loop });
    expect(JSON.stringify(last())).to.include('[too deep]').and.to.not.include('hunter2');
  });
});
