import { expect } from 'chai';
import { createHash } from 'node:crypto';
import { inspect } from 'node:util';
import {
  constantTimeEqual,
  generateKeyRingText,
  parseKeyRing,
  randomToken,
  SealError,
  sha256Hex,
} from '../../data-plane-agent/base/secrets.js';

const OLD = 'old:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';
const NEW = 'new:ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=';
const CONTEXT = 'users.totp_secret.tenant-1.user-1';

function codeOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof SealError) return error.code;
    throw error;
  }
  return 'nothing was thrown';
}

describe('a key ring', () => {
  it('decrypts text and bytes for the context they were encrypted for', () => {
    const ring = parseKeyRing(NEW);
    for (const text of ['', 'JBSWY3DPEHPK3PXP', '合同 ✓', 'x'.repeat(100_000)]) {
      expect(ring.openText(ring.seal(text, CONTEXT), CONTEXT)).to.equal(text);
    }
    const bytes = Uint8Array.from([0, 255, 128]);
    expect([...ring.open(ring.seal(bytes, CONTEXT), CONTEXT)]).to.deep.equal([0, 255, 128]);
    expect(ring.openText(ring.seal('long', 'c'.repeat(5000)), 'c'.repeat(5000))).to.equal('long');
  });

  it('encrypts with its first key and decrypts with all, so that keys can be rotated', () => {
    const before = parseKeyRing(OLD).seal('kept', CONTEXT);
    const ring = parseKeyRing(`${NEW}, ${OLD}`);
    expect(ring.active).to.equal('new');
    expect(ring.keyIds).to.deep.equal(['new', 'old']);
    expect(ring.keyIdOf(ring.seal('x', CONTEXT))).to.equal('new');
    expect(ring.keyIdOf(before)).to.equal('old');
    expect(ring.openText(before, CONTEXT)).to.equal('kept');
  });

  it('derives the same bytes for a purpose, also after a new key was prepended, and others for another purpose or key', () => {
    const bytes = parseKeyRing(OLD).derive('a purpose');
    expect(bytes).to.have.length(32);
    expect(parseKeyRing(`${NEW},${OLD}`).derive('a purpose')).to.deep.equal(bytes);
    expect(parseKeyRing(OLD).derive('another')).not.to.deep.equal(bytes);
    expect(parseKeyRing(NEW).derive('a purpose')).not.to.deep.equal(bytes);
  });

  it('distinguishes another context, an altered text, an unknown key and a text that is not encrypted', () => {
    const ring = parseKeyRing(NEW);
    const sealed = ring.seal('secret', CONTEXT);
    const [version, id, nonce, body = ''] = sealed.split('.');
    const last = Buffer.from(body, 'base64url');
    last[last.length - 1] = (last.at(-1) ?? 0) ^ 1;
    expect(codeOf(() => ring.open(sealed, 'users.totp_secret.tenant-1.user-2'))).to.equal('SEAL_CONTEXT_MISMATCH');
    expect(codeOf(() => ring.open([version, id, nonce, last.toString('base64url')].join('.'), CONTEXT))).to.equal(
      'SEAL_TAMPERED',
    );
    expect(codeOf(() => parseKeyRing(OLD).open(sealed, CONTEXT))).to.equal('SEAL_KEY_UNKNOWN');
    const sameIdOtherKey = parseKeyRing(OLD.replace('old', 'new'));
    expect(codeOf(() => sameIdOtherKey.open(sealed, CONTEXT))).to.equal('SEAL_CONTEXT_MISMATCH');
    for (const text of [
      '',
      'plain',
      'v2.new.a.b',
      `${sealed}.x`,
      `${sealed}=`,
      `v1.new.${nonce}.AAAA`,
      sealed.replace('.new.', '.n w.'),
    ]) {
      expect(
        codeOf(() => ring.open(text, CONTEXT)),
        text,
      ).to.equal('SEAL_MALFORMED');
    }
  });

  it('does not decrypt a text with a single changed character', () => {
    const ring = parseKeyRing(NEW);
    const sealed = ring.seal('secret', CONTEXT);
    for (let at = 0; at < sealed.length; at += 1) {
      const altered = `${sealed.slice(0, at)}${sealed[at] === 'A' ? 'B' : 'A'}${sealed.slice(at + 1)}`;
      expect(
        codeOf(() => ring.open(altered, CONTEXT)),
        `at ${at}`,
      ).to.match(/^SEAL_/);
    }
  });

  it('encrypts the same text differently each time', () => {
    const ring = parseKeyRing(NEW);
    expect(new Set(Array.from({ length: 50 }, () => ring.seal('same', CONTEXT))).size).to.equal(50);
  });

  it('shows no key when it is printed, or in the error for an invalid setting', () => {
    const key = NEW.slice(4);
    expect(
      inspect(parseKeyRing(NEW), { depth: 9, showHidden: true }) + JSON.stringify(parseKeyRing(NEW)),
    ).to.not.include(key.slice(0, 8));
    const refused: [text: string, problem: string][] = [
      ['', 'key 1 must be written id:base64'],
      [key, 'key 1 must be written id:base64'],
      [`${NEW},`, 'key 2 must be written id:base64'],
      [`a b:${key}`, 'key 1 must be written id:base64'],
      [`${NEW},${NEW}`, 'key 2 repeats the id new'],
      ['new:c2hvcnQ=', 'key 1 (new) must be 32 bytes in base64'],
      [`new:${key.slice(0, -1)}`, 'key 1 (new) must be 32 bytes in base64'],
      [`new:!${key}`, 'key 1 (new) must be 32 bytes in base64'],
    ];
    for (const [text, problem] of refused) {
      expect(() => parseKeyRing(text), text)
        .to.throw(SealError, problem)
        .with.property('code', 'KEY_RING_INVALID');
      expect(() => parseKeyRing(text)).to.not.throw(key.slice(0, 8));
    }
  });

  it('can be generated, each time with another key and id', () => {
    const [first, second] = [generateKeyRingText(), generateKeyRingText()];
    expect(parseKeyRing(`${first},${second}`).keyIds).to.have.length(2);
    expect(first).to.not.equal(second);
  });
});

describe('small secrets', () => {
  it('are random tokens of the requested length', () => {
    expect(randomToken()).to.match(/^[A-Za-z0-9_-]{43}$/);
    expect(randomToken(16)).to.match(/^[A-Za-z0-9_-]{22}$/);
    expect(randomToken()).to.not.equal(randomToken());
  });

  it('are compared as a whole, whatever their lengths', () => {
    expect(constantTimeEqual('abc', 'abc')).to.equal(true);
    expect(['abd', 'ab', 'abcd', ''].some((other) => constantTimeEqual('abc', other))).to.equal(false);
  });

  it('are hashed with SHA-256 in hex', () => {
    expect(sha256Hex('abc')).to.equal('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    expect(sha256Hex(Uint8Array.of(1))).to.equal(createHash('sha256').update('\u0001').digest('hex'));
  });
});
