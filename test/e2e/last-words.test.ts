import { expect, test } from 'vitest';
import { rpc } from '../kit/raw.ts';
import { testHub } from '../kit/test-hub.ts';

// Dying programs print what they were given. Whoever calls their tools is told why they died, and no more.

const program = `
  const lines = require('node:readline').createInterface({ input: process.stdin });
  const answer = (id, result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
  lines.on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    if (method === 'initialize')
      answer(id, { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } });
    if (method === 'tools/list') answer(id, { tools: [{ name: 'die', inputSchema: { type: 'object' } }] });
    if (method === 'tools/call')
      process.stderr.write('cannot log in with ' + process.env.API_KEY + '\\n', () => process.exit(3));
  });
`;

test('a secret that a server prints when it dies reaches no client', async () => {
  const secret = 'key-a1b2c3d4e5f6';
  const hub = await testHub({
    mcpServers: { s: { command: process.execPath, args: ['-e', program], env: { API_KEY: secret } } },
  });
  await hub.connected(1);
  const call = () => rpc(hub.mcp(), 'tools/call', { name: 's-die', arguments: {} });
  const inFlight = await call();
  expect(inFlight.error?.message).toContain('cannot log in with');
  const afterwards = await call();
  expect(afterwards.error?.message).toContain('cannot log in with');
  for (const { text } of [inFlight, afterwards]) expect(text).not.toContain(secret);
  expect(JSON.stringify(hub.hub.servers())).not.toContain(secret);
});
