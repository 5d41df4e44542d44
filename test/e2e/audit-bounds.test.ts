import { expect, test } from 'vitest';
import { httpLimits } from '../../src/http/limits.ts';
import { api, login } from '../kit/api.ts';
import { testHub } from '../kit/test-hub.ts';

test('what is pasted is taken as text only up to the size that every body may have', async () => {
  const hub = await testHub({ mcpServers: {} });
  const token = await login(hub);
  const paste = (body: string) =>
    api(hub, 'POST', '/servers/import?dryRun=true', { token, body, headers: { 'content-type': 'text/plain' } });
  const fits = await paste('https://x.example/mcp');
  expect(fits.status, fits.text).toBe(200);
  const { status, body } = await paste(' '.repeat(httpLimits.apiBodyBytes) + 'https://x.example/mcp');
  expect([status, body.success]).toEqual([413, false]);
});
