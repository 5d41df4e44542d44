import { expect, test } from 'vitest';
import { parseSettings } from './schema.ts';

const warnedOf = (document: object) => parseSettings(document).warnings.map(({ path }) => path);

test('what MCPHub did and this hub does not do is named where it was in use', () => {
  const document = {
    prompts: [{ name: 'greet', template: 'Hello {{name}}' }],
    resources: [{ uri: 'docs://a', content: 'hello', enabled: true }],
    systemConfig: {
      auth: { betterAuth: { enabled: true }, forwardAuth: { enabled: true, mode: 'jwks' } },
      toolResultCompression: { enabled: true },
    },
  };
  expect(warnedOf(document)).toEqual([
    'prompts',
    'resources',
    'systemConfig.auth.betterAuth',
    'systemConfig.auth.forwardAuth',
    'systemConfig.toolResultCompression',
  ]);
});

test('what it did for a server is named at the server', () => {
  const mcpServers = {
    a: { url: 'https://x', proxy: { enabled: true }, passthroughHeaders: ['X-Tenant'] },
    b: { openapi: { url: 'https://x', passthroughHeaders: ['X-Tenant'] } },
    c: { command: 'x', credentialTemplate: [{ target: 'env', name: 'TOKEN' }] },
  };
  expect(warnedOf({ mcpServers })).toEqual([
    'mcpServers.a.proxy',
    'mcpServers.a.passthroughHeaders',
    'mcpServers.b.openapi.passthroughHeaders',
    'mcpServers.c.credentialTemplate',
  ]);
});

test('what is empty or switched off is passed over', () => {
  const document = {
    mcpServers: { a: { url: 'https://x', proxy: { enabled: false }, passthroughHeaders: [], credentialTemplate: [] } },
    prompts: [{ name: 'greet', template: 'Hello', enabled: false }],
    resources: [],
    systemConfig: { auth: { betterAuth: { enabled: false } }, toolResultCompression: { enabled: false } },
  };
  expect(warnedOf(document)).toEqual([]);
});
