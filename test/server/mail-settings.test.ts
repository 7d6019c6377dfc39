import { expect } from 'chai';
import { parseMailAddress } from '../../server/notifications/address.js';
import { readServerConfig } from '../../server/config.js';
import { generateKeyRingText } from '../../data-plane-agent/base/secrets.js';

const faultsOf = (env: NodeJS.ProcessEnv): string[] => {
  const read = readServerConfig({ SECRET_KEYS: generateKeyRingText(), ...env });
  return read.ok ? [] : read.faults.map(({ name, problem }) => `${name} ${problem}`);
};

describe('the settings of mail and bot challenge', () => {
  it('accept a sender with and without a name', () => {
    expect(parseMailAddress('Duebook <duebook@example.com>')).to.deep.equal({
      name: 'Duebook',
      address: 'duebook@example.com',
    });
    expect(parseMailAddress('"Duebook, Acme" <duebook@example.com>')).to.deep.equal({
      name: 'Duebook, Acme',
      address: 'duebook@example.com',
    });
    expect(parseMailAddress(' duebook@example.com ')).to.deep.equal({ name: '', address: 'duebook@example.com' });
  });

  for (const bad of [
    '',
    'Duebook',
    'a@b@c',
    'a b@example.com',
    'Duebook <>',
    'Duebook <a@example.com> b',
    'A\r\nBcc: x@y.test <a@example.com>',
    'a@example.com\nBcc: b@example.com',
    'a@example.com, b@example.com',
  ]) {
    it(`refuse ${JSON.stringify(bad)} as a sender`, () => {
      expect(parseMailAddress(bad)).to.equal(undefined);
    });
  }

  it('require a sender with a mail server, and a secret with a provider', () => {
    expect(faultsOf({ SMTP_URL: 'smtp://mail.example.com', MAIL_FROM: 'a@example.com' })).to.deep.equal([]);
    expect(faultsOf({ SMTP_URL: 'smtp://mail.example.com' })).to.deep.equal(['MAIL_FROM is required with SMTP_URL']);
    expect(faultsOf({ SMTP_URL: 'https://mail.example.com', MAIL_FROM: 'a@example.com' })).to.have.length(1);
    expect(faultsOf({ BOT_CHALLENGE_PROVIDER: 'turnstile' })).to.deep.equal([
      'BOT_CHALLENGE_SECRET is required with BOT_CHALLENGE_PROVIDER',
    ]);
    expect(faultsOf({ BOT_CHALLENGE_PROVIDER: 'hcaptcha', BOT_CHALLENGE_SECRET: 'x' })).to.deep.equal([]);
    expect(faultsOf({ BOT_CHALLENGE_PROVIDER: 'none' })).to.deep.equal([]);
    expect(faultsOf({ BOT_CHALLENGE_PROVIDER: 'another' })).to.have.length(1);
  });

  it("never show the mail server's password", () => {
    const read = readServerConfig({
      SECRET_KEYS: generateKeyRingText(),
      SMTP_URL: 'ftp://user:hush-hush@mail.example.com',
    });
    expect(JSON.stringify(read)).not.to.contain('hush-hush');
  });
});
