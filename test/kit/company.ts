import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { atEnd } from './at-end.ts';

/** A company with a login of its own: `oidc-provider` in the process of the test. */
export interface Company {
  readonly issuer: string;
  /** What it says of people, by subject; a test may change it. */
  readonly people: Record<string, Record<string, unknown>>;
  /** What its token endpoint answers in place of an answer: 400 is `invalid_grant`. */
  tokenStatus: number | undefined;
  /** Requests that its token endpoint got. */
  tokenRequests: number;
  /** Refresh tokens that it was asked with. */
  readonly refreshTokens: string[];
  /** Who is at the browser that comes next. */
  person: string;
  /** Opens it, for the hub at this address. */
  open(hubUrl: string, id: string): Promise<void>;
  logoutToken(claims: Record<string, unknown>): Promise<string>;
}

export const clientId = 'toolhub-at-corp';
export const clientSecret = 'a secret between the hub and corp';

export async function company(): Promise<Company> {
  let answer: RequestListener = (_, res) => void res.writeHead(503).end();
  const server = createServer((req, res) => answer(req, res));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const jwk = { ...(await exportJWK(privateKey)), kid: 'corp-1', alg: 'RS256', use: 'sig' };
  const self: Company = {
    issuer,
    people: {},
    tokenStatus: undefined,
    tokenRequests: 0,
    refreshTokens: [],
    person: '',
    async open(hubUrl, id) {
      const { Provider } = await import('oidc-provider');
      const provider = new Provider(issuer, {
        clients: [
          {
            client_id: clientId,
            client_secret: clientSecret,
            redirect_uris: [`${hubUrl}/api/auth/oidc/${id}/callback`],
            grant_types: ['authorization_code', 'refresh_token'],
          },
        ],
        jwks: { keys: [jwk] },
        cookies: { keys: ['a key of the test'] },
        scopes: ['openid', 'profile', 'email', 'groups'],
        claims: {
          openid: ['sub', 'sid'],
          profile: ['preferred_username'],
          email: ['email', 'email_verified'],
          groups: ['groups'],
        },
        // As Keycloak does, also where no offline access was asked for.
        issueRefreshToken: () => Promise.resolve(true),
        rotateRefreshToken: true,
        features: { devInteractions: { enabled: false } },
        interactions: { url: (_, { uid }) => `/interaction/${uid}` },
        findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub, ...self.people[sub] }) }),
        async loadExistingGrant(ctx) {
          const { client, session } = ctx.oidc;
          const grant = new ctx.oidc.provider.Grant({ clientId: client!.clientId, accountId: session!.accountId! });
          grant.addOIDCScope('openid profile email groups');
          await grant.save();
          return grant;
        },
      });
      provider.on('refresh_token.consumed', ({ jti }) => self.refreshTokens.push(jti));
      const callback = provider.callback();
      answer = (req, res) => {
        if (req.url === '/token' && ++self.tokenRequests > 0 && self.tokenStatus !== undefined) {
          req.resume();
          res.writeHead(self.tokenStatus, { 'content-type': 'application/json' });
          return void res.end(JSON.stringify({ error: 'invalid_grant' }));
        }
        if (!req.url?.startsWith('/interaction/')) return void callback(req, res);
        void provider.interactionFinished(req, res, { login: { accountId: self.person } });
      };
    },
    logoutToken: (claims) =>
      new SignJWT({
        iss: issuer,
        aud: clientId,
        jti: crypto.randomUUID(),
        events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
        ...claims,
      })
        .setProtectedHeader({ alg: 'RS256', kid: 'corp-1', typ: 'logout+jwt' })
        .setIssuedAt(claims['iat'] as number | undefined)
        .setExpirationTime('2m')
        .sign(privateKey),
  };
  return self;
}

/** A browser without script: cookies by origin, redirects followed. */
export function browser() {
  const jars = new Map<string, Map<string, string>>();
  const jarOf = (url: string) => {
    const { origin } = new URL(url);
    const jar = jars.get(origin) ?? new Map<string, string>();
    jars.set(origin, jar);
    return jar;
  };

  async function once(url: string, init: RequestInit = {}): Promise<Response> {
    const jar = jarOf(url);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(url, {
      ...init,
      redirect: 'manual',
      headers: { ...(cookie !== '' && { cookie }), ...(init.headers as Record<string, string>) },
    });
    for (const line of answer.headers.getSetCookie()) {
      const [pair = ''] = line.split(';');
      const at = pair.indexOf('=');
      const [name, value] = [pair.slice(0, at), pair.slice(at + 1)] as const;
      if (value === '' || /expires=thu, 01 jan 1970|max-age=0/i.test(line)) jar.delete(name);
      else jar.set(name, value);
    }
    return answer;
  }

  return {
    once,
    cookie: (url: string, name: string) => jarOf(url).get(name),
    /** Goes on until it is not sent anywhere else, or to an address for which `stop` is true. */
    async go(url: string, stop: (url: string) => boolean = () => false): Promise<{ url: string; answer: Response }> {
      let at = url;
      for (let i = 0; i < 12; i++) {
        const answer = await once(at);
        const location = answer.headers.get('location');
        if (location === null) return { url: at, answer };
        at = new URL(location, at).href;
        if (stop(at)) return { url: at, answer };
      }
      throw new Error(`Sent around in circles: ${at}`);
    },
  };
}
