import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { api, login } from '../kit/api.ts';
import { hostileStdio } from '../kit/hostile.ts';
import { rpc } from '../kit/raw.ts';
import { hasSmallDisks, smallDisk } from '../kit/small-disk.ts';
import { failedStart, hubProcess } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

const noRoom = 'The disk has no room; what the hub could not keep is in its log, and it serves without';

describe.runIf(hasSmallDisks)('a start on a full disk', () => {
  test('serves, says that it is degraded, keeps its folder and recovers', async () => {
    const disk = smallDisk();
    const server = hostileStdio({ name: 's', tools: ['echo'] });
    const before = await hubProcess({ folder: disk.folder, mcpServers: { s: server.config } });
    await before.connected(1);
    const token = await login(before);
    await before.stop('SIGKILL');
    disk.fill();

    const hub = await hubProcess({ folder: disk.folder });
    await hub.connected(1);
    const called = await rpc(hub.mcp(), 'tools/call', { name: 's-echo', arguments: { text: 'x' } });
    expect(called.result?.isError ?? false).toBe(false);
    // Its secrets are those of before.
    expect((await api(hub, 'GET', '/servers', { token })).status).toBe(200);
    expect(await hub.health()).toMatchObject({ status: 'degraded', message: noRoom });
    expect(hub.output()).toContain('No room left on the disk (ENOSPC) for');
    const change = { token, body: { name: 'new', servers: ['s'] } };
    const refused = await api(hub, 'POST', '/groups', change);
    expect([refused.status, refused.body.message]).toEqual([500, expect.stringContaining('no room left on the disk')]);
    // The folder is ours all the same.
    const second = await failedStart({
      folder: disk.folder,
      env: { SETTINGS_PATH: join(disk.folder, 'other.json') },
    });
    expect([second.code, second.output]).toEqual([1, expect.stringContaining('Cannot use data folder')]);

    disk.free();
    await until('it has recovered', async () => (await hub.health()).status === 'healthy');
    expect(hub.output()).toContain('There is room on the disk again');
    expect((await api(hub, 'POST', '/groups', change)).status).toBe(201);
    expect(JSON.parse(readFileSync(join(disk.folder, 'data', 'hub.lock'), 'utf8'))).toMatchObject({
      pid: hub.pid,
      url: hub.url,
    });
    expect(await hub.stop('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(existsSync(join(disk.folder, 'data', 'hub.lock'))).toBe(false);
  });

  test('that is the first one serves too, and what it made is kept once there is room', async () => {
    const disk = smallDisk();
    disk.fill();
    // One that dies on the full disk bars nothing, although its lock could not say whose it is.
    const killed = await hubProcess({ folder: disk.folder, firstStart: true });
    expect(readFileSync(join(disk.folder, 'data', 'hub.lock'), 'utf8')).toBe('');
    await killed.stop('SIGKILL');
    const hub = await hubProcess({ folder: disk.folder, firstStart: true });
    expect(await hub.health()).toMatchObject({ status: 'degraded', message: noRoom });
    expect((await rpc(hub.mcp(), 'tools/list', {})).status).toBe(200);
    expect(hub.output()).toMatch(/No room left on the disk \(ENOSPC\) for the first settings/);
    disk.free();
    await until('the settings are written', () => existsSync(hub.settingsPath) && statSync(hub.settingsPath).size > 0);
    const token = await until('the admin is there', () => login(hub));
    await hub.stop('SIGTERM');
    const again = await hubProcess({ folder: disk.folder });
    expect((await api(again, 'GET', '/servers', { token })).status).toBe(200);
  });
});
