// The same tools/call with an access key and with the token of a client that a user let in by OAuth, at one hub.
import { createHash, randomBytes } from 'node:crypto';
import { kinds, ready, stdioServer } from '../lib/contenders.mjs';
import { load } from './call.mjs';

export const about = 'CPU time of a call with an access key, and with an OAuth token, at the same hub';

export async function run({ rounds, calls, seconds, note }) {
  const hub = await kinds.hub({ servers: { sio: stdioServer() } });
  try {
    const tools = await ready(hub, 5);
    const token = await tokenOf(hub);
    const contenders = [
      { ...hub, name: 'access key' },
      { ...hub, name: 'OAuth token', target: { ...hub.target, headers: { authorization: `Bearer ${token}` } } },
    ];
    const echo = tools.of('sio', 'echo');
    for (const one of contenders) await load(one, echo, 16, { calls: 8_000, seconds: 8 });
    for (let round = 0; round < rounds; round++) {
      // Each goes first as often as the other.
      const order = round % 2 === 0 ? contenders : contenders.toReversed();
      for (const one of order) note({ contender: one.name }, await load(one, echo, 64, { calls, seconds }));
    }
  } finally {
    await hub.close();
  }
}

/** Registers a client, logs in on the page of the hub, lets the client in, and redeems the code. */
async function tokenOf({ url, target }) {
  const redirectUri = 'https://app.example/callback';
  const verifier = randomBytes(32).toString('base64url');
  const { client_id } = await json(`${url}/oauth/register`, {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: 'bench', redirect_uris: [redirectUri] }),
  });
  const query = new URLSearchParams({
    response_type: 'code',
    client_id,
    redirect_uri: redirectUri,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    resource: target.url,
  });
  const login = await (await fetch(`${url}/oauth/authorize?${query}`)).text();
  const consent = await submit(url, { ...hidden(login), username: 'admin', password: 'bench password' });
  const back = await submit(url, { ...hidden(await consent.text()), reach: 'all', decision: 'allow' });
  const { access_token } = await json(`${url}/oauth/token`, {
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      client_id,
      redirect_uri: redirectUri,
      code: new URL(back.headers.get('location')).searchParams.get('code'),
      code_verifier: verifier,
    }),
  });
  return access_token;
}

function hidden(page) {
  const fields = page.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g);
  return Object.fromEntries([...fields].map(([, name, value]) => [name, value]));
}

function submit(url, fields) {
  return fetch(`${url}/oauth/authorize`, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin: url, 'sec-fetch-site': 'same-origin' },
    body: new URLSearchParams(fields),
  });
}

async function json(url, options) {
  const answer = await fetch(url, { method: 'POST', ...options });
  if (!answer.ok) throw new Error(`${url} answers ${answer.status}: ${await answer.text()}`);
  return answer.json();
}
