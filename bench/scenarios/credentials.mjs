// The same tools/call with an access key and with the token of a client that a user let in by OAuth, at one hub.
import { createHash, randomBytes } from 'node:crypto';
import { kinds, ready, stdioServer } from '../lib/contenders.mjs';
import { cpuOf } from '../lib/processes.mjs';
import { openSession } from '../lib/session.mjs';

export const about = 'CPU time of a call with an access key, and with an OAuth token, at the same hub';

/** The two take turns this often: the speed of a machine changes within seconds by more than what is looked for. */
const turnMs = 100;
const inFlight = 64;

export async function run({ rounds, seconds, note }) {
  const hub = await kinds.hub({ servers: { sio: stdioServer() } });
  try {
    const tools = await ready(hub, 5);
    const token = await tokenOf(hub);
    const echo = tools.of('sio', 'echo');
    const key = await contender('access key', hub.target);
    const app = await contender('OAuth token', { ...hub.target, headers: { authorization: `Bearer ${token}` } });
    const readings = [];
    const turns = Math.ceil((seconds * 1000) / turnMs);
    for (let round = -1; round < rounds; round++) {
      const spent = new Map([key, app].map((one) => [one, { cpu: 0, calls: 0 }]));
      for (let turn = 0; turn < turns; turn++) {
        // Each goes first as often as the other.
        for (const one of turn % 2 === 0 ? [key, app] : [app, key]) {
          const before = cpuOf(hub.pid);
          spent.get(one).calls += await callFor(turnMs, one.sessions, echo);
          spent.get(one).cpu += cpuOf(hub.pid) - before;
        }
      }
      // The first warms up.
      if (round < 0) continue;
      const us = (one) => (spent.get(one).cpu / spent.get(one).calls) * 1e6;
      note({ contender: key.name }, { cpuUs: us(key) });
      readings.push({ cpuUs: us(app), toKey: us(app) / us(key) });
    }
    const ratios = readings.map(({ toKey }) => toKey);
    const spread = { toKeyLeast: Math.min(...ratios), toKeyMost: Math.max(...ratios) };
    for (const reading of readings) note({ contender: app.name }, { ...reading, ...spread });
  } finally {
    await hub.close();
  }
}

async function contender(name, target) {
  const sessions = await Promise.all(Array.from({ length: inFlight }, () => openSession(target)));
  return { name, sessions };
}

/** Keeps a call of each session in flight for so long. Answers how many there were. */
async function callFor(ms, sessions, tool) {
  let calls = 0;
  const end = performance.now() + ms;
  const work = sessions.map(async (session, at) => {
    for (let n = 0; performance.now() < end; n++) {
      const tag = `w${at}n${n}.`;
      await session.call(tool, `{"message":"${tag}"}`, tag);
      calls++;
    }
  });
  await Promise.all(work);
  return calls;
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
