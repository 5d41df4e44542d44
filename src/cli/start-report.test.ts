import { describe, expect, test, vi } from 'vitest';
import type { Hub, ServerState } from '../core/hub.ts';
import { bannerLines, createStartReport, serverLine, connectingServers } from './start-report.ts';

function hubWith(servers: ServerState[][], more: Partial<Hub> = {}): Hub {
  const rounds = servers.length > 0 ? servers : [[]];
  let round = 0;
  return {
    url: 'http://127.0.0.1:3000',
    mcpUrl: 'http://127.0.0.1:3000/mcp',
    settingsPath: '/srv/mcp_settings.json',
    firstStart: false,
    keyRequired: false,
    servers: () => rounds[Math.min(round, rounds.length - 1)] ?? [],
    settled: () => {
      round++;
      return Promise.resolve();
    },
    close: () => Promise.resolve(),
    ...more,
  };
}

const state = (name: string, status: ServerState['status'], more: Partial<ServerState> = {}): ServerState => {
  return { name, status, tools: 0, prompts: 0, resources: 0, ...more };
};

describe('the start-up banner', () => {
  const place = { dataDir: '/srv/data', web: true, database: { kind: 'embedded' } } as const;

  test('says when the settings are in a database, and no file is read', () => {
    const database = { kind: 'postgres', url: 'postgres://hub:secret@db/hub' } as const;
    const text = bannerLines(hubWith([]), { ...place, database }).join('\n');
    expect(text).toContain('Settings   in the database (DB_URL), no longer in /srv/mcp_settings.json');
    expect(text).toContain('add some in the dashboard');
    expect(text).not.toContain('secret');
  });

  test('says where everything is and how to connect a client', () => {
    const text = bannerLines(hubWith([]), place).join('\n');
    expect(text).toContain('http://127.0.0.1:3000/mcp');
    expect(text).toContain('/srv/mcp_settings.json');
    expect(text).toContain('/srv/data');
    expect(text).toContain('claude mcp add --transport http toolhub http://127.0.0.1:3000/mcp');
    expect(text).toContain('open http://127.0.0.1:3000/');
    expect(text).toContain('No servers yet');
  });

  test('shows where an access key goes, and where to make one, on a hub that asks for it', () => {
    const text = (web: boolean) => bannerLines(hubWith([], { keyRequired: true }), { ...place, web }).join('\n');
    expect(text(true)).toContain('--header "Authorization: Bearer YOUR_ACCESS_KEY"');
    expect(text(true)).toContain('make at http://127.0.0.1:3000/ as');
    expect(text(false)).toContain('make at POST http://127.0.0.1:3000/api/auth/keys as');
    expect(bannerLines(hubWith([]), place).join('\n')).not.toContain('YOUR_ACCESS_KEY');
  });

  test('fits on a screen even at its longest', () => {
    const hub = hubWith([[state('a', 'connecting')]], {
      adminPassword: 'p4ss',
      firstStart: true,
      exposure: ['Call every tool of a', 'Call every tool of b'],
    });
    expect(bannerLines(hub, place).length).toBeLessThanOrEqual(25);
  });

  test('shows the first password only when it was made just now', () => {
    expect(bannerLines(hubWith([], { adminPassword: 'p4ss-once' }), place).join('\n')).toContain('p4ss-once');
    expect(bannerLines(hubWith([]), place).join('\n')).not.toMatch(/password/i);
  });

  test('says what strangers can do when they can reach the hub', () => {
    expect(bannerLines(hubWith([], { exposure: ['call the tools of github'] }), place).join('\n')).toContain(
      '! call the tools of github',
    );
  });

  test('says it in one entry of a JSON log too, which stands alone there', () => {
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    const exposure = ['call the tools of github', 'to close this, change the settings'];
    createStartReport({ ...place, disableWeb: false, logFormat: 'json' }).ready(hubWith([], { exposure }));
    const entries = write.mock.calls.map(([line]) => String(line));
    write.mockRestore();
    expect(entries.filter((line) => line.includes('"warn"'))).toEqual([
      expect.stringContaining(
        'Others can reach this address. Without a key they can: call the tools of github; to close this, change the settings',
      ),
    ]);
  });

  test('points to the documents where there is no dashboard', () => {
    const text = bannerLines(hubWith([]), { ...place, web: false }).join('\n');
    expect(text).not.toContain('Dashboard');
    expect(text).toContain('docs/connect-clients.md');
  });
});

describe('a server line', () => {
  test.each([
    [state('memory', 'connected', { tools: 9, ms: 412 }), '  ✓ memory            9 tools  (0.4 s)'],
    [state('one', 'connected', { tools: 1 }), '  ✓ one               1 tool'],
    [state('nap', 'asleep', { tools: 9 }), '  z nap               9 tools  (starts when it is called)'],
    [state('github', 'connecting'), '  … github            connecting'],
    [
      state('foo', 'disconnected', { error: 'command "uvx" was not found' }),
      '  ✗ foo               command "uvx" was not found',
    ],
    [state('slack', 'oauth_required'), '  ! slack             sign-in needed'],
  ])('%j', (server, line) => {
    expect(serverLine(server)).toBe(line);
  });

  test('stays one harmless line whatever the server said', () => {
    const line = serverLine(state('x\u001b[2J', 'disconnected', { error: 'died\n\u001b[31mred' }));
    expect(line).toBe('  ✗ x                 died ↵ red');
  });
});

describe('servers while the hub starts', () => {
  const news = async (hub: Hub, stop = new AbortController().signal) => {
    const heard: string[] = [];
    for await (const { name, status } of connectingServers(hub, stop)) heard.push(`${name} ${status}`);
    return heard;
  };

  test('are told once each, in the order they settle; disabled ones are not', async () => {
    const hub = hubWith([
      [state('a', 'connecting'), state('b', 'connected'), state('off', 'disabled')],
      [state('a', 'connecting'), state('b', 'connected'), state('off', 'disabled')],
      [state('a', 'disconnected'), state('b', 'disconnected'), state('off', 'disabled')],
    ]);
    expect(await news(hub)).toEqual(['b connected', 'a disconnected']);
  });

  test('are told no more once the hub is to stop', async () => {
    expect(await news(hubWith([[state('a', 'connecting')]]), AbortSignal.abort())).toEqual([]);
  });
});
