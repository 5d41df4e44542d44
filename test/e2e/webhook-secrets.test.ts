import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { api, login } from '../kit/api.ts';
import { atEnd } from '../kit/at-end.ts';
import { hostileHttp } from '../kit/hostile.ts';
import { rpc } from '../kit/raw.ts';
import { testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// What webhooks are signed with may be in a file (`${file:…}`), which is read at the start and when it changes.

interface Heard {
  readonly path: string;
  readonly isSigned: (secret: string) => boolean;
  readonly hasSignature: boolean;
}

test('webhooks of the audit log, of approvals and guards are signed with what a file says now, and with nothing when it says nothing', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolhub-secrets-'));
  atEnd(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'secret');
  const write = (text: string) => writeFileSync(file, text, { mode: 0o600 });
  write('first secret\n');
  const heard: Heard[] = [];
  const receiver = createServer((req, res) => void answer(req, res));
  const answer = async (req: IncomingMessage, res: ServerResponse) => {
    const body = await buffer(req);
    const signature = req.headers['x-toolhub-signature'];
    heard.push({
      path: req.url ?? '',
      hasSignature: signature !== undefined,
      isSigned: (secret) => signature === `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    });
    res.setHeader('content-type', 'application/json').end('{"decision":"allow"}');
  };
  atEnd(() => void receiver.close());
  await once(receiver.listen(0, '127.0.0.1'), 'listening');
  const address = receiver.address();
  if (address === null || typeof address === 'string') throw new Error('The receiver has no port.');
  const server = await hostileHttp({ name: 's', tools: ['echo'] });
  const secret = `\${file:${file}}`;
  const at = (path: string) => ({ url: `http://127.0.0.1:${address.port}/${path}`, secret });
  const text = '@approve("admin") forbid(principal, action, resource == Tool::"s/echo");';
  const hub = await testHub({
    // Records of the audit log are sent once they are kept.
    env: { DB_URL: '' },
    mcpServers: { s: server.config },
    systemConfig: {
      audit: { webhook: at('audit') },
      approvals: { webhook: at('approvals') },
      guards: [{ id: 'g', ...at('guard'), on: ['call'], timeoutMs: 30_000 }],
      policies: [{ id: 'p', text }],
    },
  });
  await hub.connected(1);

  /** Makes each of them speak, and gives what they said. */
  async function said(): Promise<Heard[]> {
    heard.splice(0);
    const token = await login(hub);
    const call = rpc(hub.mcp(), 'tools/call', { name: 's-echo', arguments: { text: String(Math.random()) } });
    const id = await until('it waits', async () => {
      const { text: waiting } = await api(hub, 'GET', '/approvals/waiting', { token });
      return /"id":"([^"]+)"/.exec(waiting)?.[1];
    });
    await api(hub, 'POST', `/approvals/${id}`, { token, body: { decision: 'approve' } });
    expect((await call).error).toBeUndefined();
    await until('all have spoken', () =>
      ['/audit', '/approvals', '/guard'].every((path) => heard.some((one) => one.path === path)),
    );
    return [...heard];
  }

  const first = await said();
  expect(first.filter(({ isSigned }) => !isSigned('first secret'))).toEqual([]);
  write('second secret');
  expect((await said()).filter(({ isSigned }) => !isSigned('second secret'))).toEqual([]);
  rmSync(file);
  // A signature with an empty secret proves nothing.
  expect((await said()).filter(({ hasSignature }) => hasSignature)).toEqual([]);
  write('third secret');
  expect((await said()).filter(({ isSigned }) => !isSigned('third secret'))).toEqual([]);
  expect((await api(hub, 'GET', '/logs?q=secret&limit=1000', { token: await login(hub) })).text).not.toMatch(
    /(first|second|third) secret/,
  );
});
