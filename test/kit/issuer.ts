import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { atEnd } from './at-end.ts';

/** An issuer of JWTs in the process of the test: its metadata, its keys, and what it signs. */
export interface TestIssuer {
  readonly url: string;
  /** Requests that it got, by path. */
  readonly asked: string[];
  /** Public keys that it shows; a test may change them. */
  readonly shown: Record<string, unknown>[];
  /** Answers nothing but errors. */
  isDown: boolean;
  /** What it answers by path, besides metadata and keys. */
  readonly answers: Record<string, () => unknown>;
  /** What its metadata say besides, or otherwise. */
  metadata: Record<string, unknown>;
  /** A token with this issuer, the audience `toolhub` and an hour to live, unless `claims` says otherwise. */
  sign(claims?: JWTPayload, header?: { alg?: string; kid?: string; typ?: string }): Promise<string>;
  /** Signs with a new key from now on, which is shown; the one before is not. */
  rotate(): Promise<void>;
}

export async function testIssuer(alg = 'ES256'): Promise<TestIssuer> {
  let key: CryptoKey;
  let kid = '';
  const server = createServer((req, res) => {
    const path = req.url ?? '';
    issuer.asked.push(path);
    const endpoints = { authorization_endpoint: `${url}/authorize`, token_endpoint: `${url}/token` };
    const answers: Record<string, () => unknown> = {
      '/.well-known/openid-configuration': () => ({
        issuer: url,
        jwks_uri: `${url}/keys`,
        ...endpoints,
        ...issuer.metadata,
      }),
      '/keys': () => ({ keys: issuer.shown }),
      ...issuer.answers,
    };
    req.resume();
    void Promise.resolve(issuer.isDown ? undefined : answers[path]?.()).then((answer) => {
      res.writeHead(answer === undefined ? 500 : 200, { 'content-type': 'application/json' });
      res.end(JSON.stringify(answer ?? {}));
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const issuer: TestIssuer = {
    url,
    asked: [],
    shown: [],
    isDown: false,
    answers: {},
    metadata: {},
    sign(claims = {}, header = {}) {
      const seconds = Math.floor(Date.now() / 1000);
      const usual = { iss: url, sub: 'f3a1', aud: 'toolhub', iat: seconds, exp: seconds + 3600 };
      return new SignJWT({ ...usual, ...claims }).setProtectedHeader({ alg, kid, ...header }).sign(key);
    },
    async rotate() {
      const pair = await generateKeyPair(alg, { extractable: true });
      key = pair.privateKey;
      kid = `key-${Number(kid.slice(4)) + 1}`;
      issuer.shown.splice(0, 1, { ...(await exportJWK(pair.publicKey)), kid, alg, use: 'sig' });
    },
  };
  await issuer.rotate();
  return issuer;
}
