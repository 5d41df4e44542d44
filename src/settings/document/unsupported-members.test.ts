import { expect, test } from 'vitest';
import { parseSettings } from './parse-settings.ts';

const warnedOf = (document: object) => parseSettings(document).warnings.map(({ path }) => path);

test('what MCPHub did and this hub does not do is named where it was in use', () => {
  const document = {
    systemConfig: {
      auth: { betterAuth: { enabled: true }, forwardAuth: { enabled: false, jwks: { uri: '', audience: [] } } },
      toolResultCompression: { enabled: true },
    },
  };
  expect(warnedOf(document)).toEqual(['systemConfig.auth.betterAuth']);
});

test('a switch that would open the hub is not followed and is named, as are the others of systemConfig', () => {
  const systemConfig = {
    routing: { skipAuth: true },
    discovery: { enabled: true },
    mcpRouter: { apiKey: 'k' },
    install: { npmRegistry: 'https://npm.example', pythonIndexUrl: 'https://pypi.example' },
  };
  expect(warnedOf({ systemConfig })).toEqual([
    'systemConfig.routing.skipAuth',
    'systemConfig.discovery',
    'systemConfig.mcpRouter',
  ]);
  const [first] = parseSettings({ systemConfig }).warnings;
  expect(first?.message).toContain('everyone who reaches the hub would be an admin');
  const off = {
    routing: { skipAuth: false },
    discovery: {},
    mcpRouter: { apiKey: '' },
    install: { npmRegistry: '', pythonIndexUrl: '' },
  };
  expect(warnedOf({ systemConfig: off })).toEqual([]);
});

test('what it did for a server is named at the server', () => {
  const mcpServers = {
    a: { url: 'https://x', proxy: { enabled: true } },
  };
  expect(warnedOf({ mcpServers })).toEqual(['mcpServers.a.proxy']);
});

test('what is empty or switched off is passed over', () => {
  const document = {
    mcpServers: { a: { url: 'https://x', proxy: { enabled: false } } },
    prompts: [{ name: 'greet', template: 'Hello', enabled: false }],
    resources: [],
    systemConfig: { auth: { betterAuth: { enabled: false } }, toolResultCompression: { enabled: false } },
  };
  expect(warnedOf(document)).toEqual([]);
});
