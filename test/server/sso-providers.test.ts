import { expect } from 'chai';
import { describeConfig } from '../../data-plane-agent/base/config.js';
import { generateKeyRingText } from '../../data-plane-agent/base/secrets.js';
import { readServerConfig, SETTINGS } from '../../server/config.js';

const written = {
  id: 'corp',
  name: 'Corp',
  issuer: 'https://login.example.com/realms/corp',
  clientId: 'duebook',
  clientSecret: 'shh-it-is-a-secret',
};
const faultsOf = (SSO_PROVIDERS: string, env: NodeJS.ProcessEnv = {}): string[] => {
  const result = readServerConfig({ ...env, SSO_PROVIDERS });
  return result.ok ? [] : result.faults.map(({ name, problem }) => `${name} ${problem}`);
};
const faults = (...providers: readonly unknown[]) => faultsOf(JSON.stringify(providers));
const production = {
  NODE_ENV: 'production',
  SECRET_KEYS: generateKeyRingText(),
  PUBLIC_URL: 'https://book.example.com',
  CLAMAV_URL: 'tcp://127.0.0.1:3310',
};

describe('the providers of single sign-on', () => {
  it('have defaults, and can be read from a file', () => {
    const result = readServerConfig(
      { SSO_PROVIDERS_FILE: '/run/secrets/sso.json' },
      {
        readFile: () =>
          `${JSON.stringify([written, { ...written, id: 'second', clientAuth: 'post', scopes: ['email'], allowedDomains: ['Example.COM'], autoProvisionRoleCode: 'viewer', tenants: ['acme', 'acme-2'] }])}\n`,
      },
    );
    expect(result.ok && result.values.ssoProviders).to.deep.equal([
      {
        ...written,
        clientAuth: 'basic',
        scopes: ['openid', 'email', 'profile'],
        allowedDomains: [],
        autoProvisionRoleCode: null,
        tenants: null,
      },
      {
        ...written,
        id: 'second',
        clientAuth: 'post',
        scopes: ['openid', 'email'],
        allowedDomains: ['example.com'],
        autoProvisionRoleCode: 'viewer',
        tenants: ['acme', 'acme-2'],
      },
    ]);
  });

  it('can be at most five', () => {
    const many = (count: number) => Array.from({ length: count }, (_, index) => ({ ...written, id: `p${index}` }));
    expect(faults(...many(5))).to.deep.equal([]);
    expect(faults(...many(6))).to.deep.equal(['SSO_PROVIDERS must have at most 5 providers, not 6']);
  });

  it('are refused for missing, unknown and invalid properties, with position and name', () => {
    expect(faultsOf('{"id":"corp"}')).to.deep.equal(['SSO_PROVIDERS must be a list of providers']);
    expect(faultsOf('[{')).to.deep.equal(['SSO_PROVIDERS must be valid JSON']);
    const { clientSecret: _, ...without } = written;
    const wrong: readonly (readonly [provider: object, names: string])[] = [
      [without, 'providers[0].clientSecret'],
      [{ ...written, secret: 'x' }, 'providers[0].secret'],
      [{ ...written, clientAuth: 'none' }, 'providers[0].clientAuth'],
      [{ ...written, id: '../evil' }, 'providers[0].id'],
      [{ ...written, id: '' }, 'providers[0].id'],
      [{ ...written, scopes: 'openid' }, 'providers[0].scopes'],
      [{ ...written, issuer: 'http://login.example.com' }, 'providers[0].issuer'],
      [{ ...written, issuer: 'https://login.example.com/?x=1' }, 'providers[0].issuer'],
      [{ ...written, issuer: 'login.example.com' }, 'providers[0].issuer'],
      [{ ...written, autoProvisionRoleCode: 'viewer' }, 'providers[0].allowedDomains'],
      [
        { ...written, autoProvisionRoleCode: 'owner', allowedDomains: ['example.com'] },
        'providers[0].autoProvisionRoleCode',
      ],
      [{ ...written, tenants: [] }, 'providers[0].tenants'],
      [{ ...written, tenants: ['*', 'acme'] }, 'providers[0].tenants'],
      [{ ...written, tenants: ['Acme'] }, 'providers[0].tenants[0]'],
      [{ ...written, tenants: 'acme' }, 'providers[0].tenants'],
    ];
    for (const [provider, name] of wrong) {
      const found = faults(provider);
      expect(found, name).to.have.length(1);
      expect(found[0]).to.contain(`${name} `);
    }
    expect(faults(written, written)[0]).to.contain('providers[1].id is already used by another provider');
  });

  it('can be on this machine over http, but not in production', () => {
    const here = [{ ...written, issuer: 'http://127.0.0.1:4000' }];
    expect(faults(...here)).to.deep.equal([]);
    expect(faultsOf(JSON.stringify(here), production)).to.deep.equal([
      'SSO_PROVIDERS has an http issuer (corp): in production it must be https',
    ]);
    expect(faultsOf(JSON.stringify([written]), production)).to.deep.equal([]);
  });

  it('must name their organisations if there are several: missing ones are an error in production, elsewhere a warning', () => {
    const silent = { ...written, id: 'second' };
    const bound = { ...written, tenants: ['acme'] };
    const everywhere = { ...written, id: 'third', tenants: ['*'] };
    const warningsOf = (env: NodeJS.ProcessEnv, ...providers: readonly unknown[]) =>
      readServerConfig({ ...env, SSO_PROVIDERS: JSON.stringify(providers) })
        .warnings.filter(({ name }) => name === 'SSO_PROVIDERS')
        .map(({ problem }) => problem);
    expect(faultsOf(JSON.stringify([bound, silent, everywhere]), production)).to.deep.equal([
      'SSO_PROVIDERS has several providers, and one of them has no tenants (second): list the organisations that it serves, or "*" alone for all',
    ]);
    expect(warningsOf({}, bound, silent, everywhere)).to.deep.equal([
      'has several providers, and one of them has no tenants (second): it serves every organisation; in production this is refused',
    ]);
    for (const env of [production, {}]) {
      expect(faultsOf(JSON.stringify([bound, everywhere]), env)).to.deep.equal([]);
      expect(faultsOf(JSON.stringify([silent]), env), 'the only one').to.deep.equal([]);
      expect(warningsOf(env, bound, everywhere)).to.deep.equal([]);
      expect(warningsOf(env, silent)).to.deep.equal([]);
    }
  });

  it('are never shown, neither in a listing nor in an error', () => {
    const result = readServerConfig({ SSO_PROVIDERS: JSON.stringify([written]) });
    if (!result.ok) throw new Error('it was refused');
    expect(describeConfig(SETTINGS, result).find(({ name }) => name === 'SSO_PROVIDERS')?.value).to.equal('••••');
    expect(faults({ ...written, clientId: 5, clientAuth: written.clientSecret, id: '-' }).join()).not.to.contain(
      written.clientSecret,
    );
  });
});
