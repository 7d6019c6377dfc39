import { expect } from 'chai';
import fc from 'fast-check';
import { createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { decodeProtectedHeader, importJWK, jwtVerify, SignJWT, type JWTPayload } from 'jose';
import { readCompact, signCompact } from '../../data-plane-agent/base/link/compact-token.js';
import { newLinkKey, signerOf, verifierOf, type LinkKeyPair } from '../../data-plane-agent/base/link/keys.js';

const encoded = (value: string | object): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

describe('the form of the tokens of a link', () => {
  let pair: LinkKeyPair;
  before(async () => {
    pair = await newLinkKey();
  });

  const signed = (claims: JWTPayload): string => signCompact(claims, { typ: 'dp-req+jwt', ...signerOf(pair) });
  /** Any text with a valid signature. */
  const crafted = (head: string | object, payload: string | object): string => {
    const text = `${encoded(head)}.${encoded(payload)}`;
    return `${text}.${sign(null, Buffer.from(text), signerOf(pair).key).toString('base64url')}`;
  };
  const header = () => ({ alg: 'EdDSA', typ: 'dp-req+jwt', kid: pair.kid });

  // JSON has neither undefined nor −0, and `__proto__` is no claim.
  const claims = fc.dictionary(
    fc.string({ minLength: 1, unit: 'binary' }).filter((name) => name !== '__proto__'),
    fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as unknown),
    { maxKeys: 8 },
  );
  /** Claims that the library itself checks are left to it. */
  const checkedByLibrary = (name: string): boolean => ['iat', 'nbf', 'exp', 'iss', 'aud', 'sub', 'jti'].includes(name);

  it('is that of a JWT library, which accepts what it signs', async () => {
    const key = await importJWK(pair.publicJwk, 'EdDSA');
    await fc.assert(
      fc.asyncProperty(claims, async (given) => {
        fc.pre(!Object.keys(given).some(checkedByLibrary));
        const token = signed(given);
        const { payload, protectedHeader } = await jwtVerify(token, key, { algorithms: ['EdDSA'], typ: 'dp-req+jwt' });
        expect(payload).to.deep.equal(given);
        expect(protectedHeader).to.deep.equal(header());
      }),
      { seed: 20_261_123, numRuns: 200 },
    );
  });

  it('is byte for byte the token that the library makes of the same claims', async () => {
    const key = await importJWK(pair.privateJwk, 'EdDSA');
    await fc.assert(
      fc.asyncProperty(claims, async (given) => {
        fc.pre(!Object.keys(given).some(checkedByLibrary));
        const theirs = await new SignJWT(given).setProtectedHeader(header()).sign(key);
        expect(signed(given)).to.equal(theirs);
      }),
      { seed: 20_261_123, numRuns: 200 },
    );
  });

  it('is read from what the library signs, with the right key only', async () => {
    const key = await importJWK(pair.privateJwk, 'EdDSA');
    const other = verifierOf((await newLinkKey()).publicJwk);
    await fc.assert(
      fc.asyncProperty(claims, async (given) => {
        fc.pre(!Object.keys(given).some(checkedByLibrary));
        const token = await new SignJWT(given).setProtectedHeader(header()).sign(key);
        const read = readCompact(token);
        expect(read).to.include({ typ: 'dp-req+jwt', kid: pair.kid });
        expect(read?.isSignedBy(verifierOf(pair.publicJwk))).to.equal(true);
        expect(read?.isSignedBy(other)).to.equal(false);
        expect(read?.claims()).to.deep.equal(given);
      }),
      { seed: 20_261_123, numRuns: 200 },
    );
  });

  it('is signed as RFC 8037 has it (appendix A.4)', () => {
    const d = 'nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A';
    const x = '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo';
    const text = `${encoded('{"alg":"EdDSA"}')}.${encoded('Example of Ed25519 signing')}`;
    const token = `${text}.hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg`;
    const read = readCompact(token);
    expect(read?.isSignedBy(verifierOf({ kty: 'OKP', crv: 'Ed25519', x }))).to.equal(true);
    expect(read?.claims()).to.equal(undefined); // its payload is no JSON
    const key = createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', x, d }, format: 'jwk' });
    expect(sign(null, Buffer.from(text), key).toString('base64url')).to.equal(token.split('.')[2]);
  });

  it('has no other algorithm, no extensions, no other parts, no padding and no other characters', () => {
    const token = signed({ a: 1 });
    expect(readCompact(token)).to.not.equal(undefined);
    const [head = '', payload = '', signature = ''] = token.split('.');
    const refused = [
      '',
      '..',
      `${head}.${payload}`,
      `${head}.${payload}.`,
      `${head}..${signature}`,
      `.${payload}.${signature}`,
      `${token}.${signature}`,
      `${token}=`,
      `${token}A`,
      `${token}\n`,
      ` ${token}`,
      token.slice(0, -1),
      `${head}=.${payload}.${signature}`,
      `${head}.${payload}+.${signature}`,
      ...['none', 'HS256', 'ES256', 'eddsa', 'Ed448', '', 1, null].map((alg) => crafted({ ...header(), alg }, {})),
      crafted({ typ: 'dp-req+jwt', kid: pair.kid }, {}),
      crafted({ ...header(), crit: ['b64'], b64: false }, {}),
      crafted({ ...header(), crit: [] }, {}),
      ...['[]', 'null', '"a"', '1', '{', ''].map((head) => crafted(head, {})),
    ];
    for (const one of refused) expect(readCompact(one), one).to.equal(undefined);
  });

  it('is read the same the second time, when its header was read before', () => {
    const others = [{ ...header(), crit: ['b64'] }, { ...header(), alg: 'HS256' }, { typ: 'dp-req+jwt' }];
    for (let time = 0; time < 2; time++) {
      for (const head of others) expect(readCompact(crafted(head, {})), JSON.stringify(head)).to.equal(undefined);
      for (const typ of ['dp-req+jwt', 'dp-rep+jwt', ['dp-req+jwt']]) {
        const read = readCompact(crafted({ ...header(), typ }, { time }));
        expect([read?.typ, read?.kid, read?.claims()]).to.deep.equal([typ, pair.kid, { time }]);
      }
      for (const typ of ['dp-req+jwt', 'dp-rep+jwt'])
        expect(decodeProtectedHeader(signCompact({ time }, { typ, ...signerOf(pair) }))).to.deep.equal({
          ...header(),
          typ,
        });
    }
  });

  it('has a JSON object in UTF-8 as payload', () => {
    for (const payload of ['[]', 'null', '"a"', '1', '{', '{"a":1}}'])
      expect(readCompact(crafted(header(), payload))?.claims(), payload).to.equal(undefined);
    const [head = ''] = signed({}).split('.');
    const broken = `${head}.${Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]).toString('base64url')}`;
    const signature = sign(null, Buffer.from(broken), signerOf(pair).key).toString('base64url');
    expect(readCompact(`${broken}.${signature}`)?.claims()).to.equal(undefined);
    expect(readCompact(crafted(header(), '{"a":"é €"}'))?.claims()).to.deep.equal({ a: 'é €' });
  });

  it('is verified with Ed25519 keys only, and made with no other', () => {
    const token = signed({});
    for (const key of [
      generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey,
      generateKeyPairSync('ed448').publicKey,
      generateKeyPairSync('x25519').publicKey,
    ])
      expect(readCompact(token)?.isSignedBy(key), key.asymmetricKeyType).to.equal(false);
    const privateJwk = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
    expect(() => signerOf({ kid: 'a', privateJwk })).to.throw(TypeError, 'Ed25519');
  });

  it('has a header that says which key signed, which it does not need to be trusted for', () => {
    expect(decodeProtectedHeader(signed({}))).to.deep.equal(header());
    const own = generateKeyPairSync('ed25519');
    const text = `${encoded({ ...header(), jwk: own.publicKey.export({ format: 'jwk' }) })}.${encoded({})}`;
    const token = `${text}.${sign(null, Buffer.from(text), own.privateKey).toString('base64url')}`;
    expect(readCompact(token)?.isSignedBy(verifierOf(pair.publicJwk))).to.equal(false);
    expect(readCompact(token)?.isSignedBy(createPublicKey(own.privateKey))).to.equal(true);
  });
});
