// Many who watch the log while calls are made.
import { kinds, ready, stdioServer } from '../lib/contenders.mjs';
import { openWire } from '../lib/wire.mjs';
import { load } from './call.mjs';

export const about = 'calls at 16 in flight without and with 200 readers of the log stream';

export async function run({ rounds, calls, seconds, note }) {
  const hub = await kinds.hub({ servers: { sio: stdioServer() }, system: {} });
  try {
    const tool = (await ready(hub, 5)).of('sio', 'echo');
    const token = await logIn(hub.url);
    await load(hub, tool, 16, { calls, seconds });
    for (let round = 0; round < rounds; round++) {
      for (const readers of [0, 200]) {
        let heard = 0;
        const wires = await Promise.all(Array.from({ length: readers }, () => read(hub.url, token, () => heard++)));
        note({ readers }, await load(hub, tool, 16, { calls, seconds }));
        for (const wire of wires) wire.close();
        if (heard < readers) throw new Error(`${heard} of ${readers} readers heard something`);
      }
    }
  } finally {
    await hub.close();
  }
}

export async function logIn(url) {
  const body = JSON.stringify({ username: 'admin', password: 'bench password' });
  const response = await fetch(`${url}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  return (await response.json()).token;
}

async function read(url, token, heard) {
  const wire = openWire(url);
  const { host } = new URL(url);
  const { status } = await wire.ask(
    `GET /api/logs/stream HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${token}\r\naccept: text/event-stream\r\n`,
    '',
    heard,
  );
  if (status !== 200) throw new Error(`the log stream answers ${status}`);
  return wire;
}
