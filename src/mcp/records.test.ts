import { expect, test } from 'vitest';
import { server, settings } from '../../test/kit/snapshots.ts';
import { anonymous } from '../core/access/principal.ts';
import type { NewActivity } from '../core/activity.ts';
import type { ServerSettings } from '../core/settings/server.ts';
import type { Settings } from '../core/settings/settings.ts';
import type { AuditEvent } from '../core/audit.ts';
import { HubError } from '../core/errors.ts';
import { createCallRecords, type FinishedCall } from './records.ts';

test.each<[string, ServerSettings[], boolean]>([
  ['a server for all', [server('tickets')], true],
  ['one with credentials of users', [server('tickets', { credentialTemplate: [{ target: 'env', name: 'T' }] })], false],
  ['one that is gone when it ends', [], false],
])('of a call of %s, what was sent and answered is kept: %s', (_, servers, isKept) => {
  const plain = settings({ servers });
  const now: Settings = { ...plain, system: { ...plain.system, storeToolPayload: true } };
  const kept: NewActivity[] = [];
  const records = createCallRecords({
    called: () => undefined,
    audit: { counted: () => undefined },
    activity: { record: (one) => void kept.push(one), afterKeeping: (done) => done() },
    counts: { count: () => undefined },
    settings: () => now,
    clean: (text) => text,
    hide: (text) => text,
  });
  const request = {
    method: 'tools/call',
    principal: anonymous,
    scope: { kind: 'global' },
    view: { kind: 'global' },
    params: '{"arguments":{}}',
    message: { params: {} },
  };
  const target = { server: 'tickets', key: 'find' };
  const call = {
    request,
    target,
    ms: 1,
    outcome: 'tool_error',
    error: `wrong eyJh.eyJz.c2ln mcphub_${'0'.repeat(64)}`,
    answer: '{}',
  };
  records.finished(call as unknown as FinishedCall);
  const error = isKept ? 'wrong •••• ••••' : 'The server answered with an error, which is not kept.';
  const payload = isKept ? ['{"arguments":{}}', '{}'] : [undefined, undefined];
  expect(kept.map(({ errorMessage, input, output }) => [errorMessage, input, output])).toEqual([[error, ...payload]]);
});

test.each([
  ['while an admin wants to see its calls', Date.now() + 60_000, true],
  ['when that time is over', Date.now() - 1, false],
])('of a server %s, what is called is kept without secrets: %s', (_, keepPayloadsUntil, isKept) => {
  const kept: NewActivity[] = [];
  const now = settings({ servers: [server('files', { keepPayloadsUntil }), server('other')] });
  const records = createCallRecords({
    called: () => undefined,
    audit: { counted: () => undefined },
    activity: { record: (one) => void kept.push(one), afterKeeping: (done) => done() },
    counts: { count: () => undefined },
    settings: () => now,
    clean: (text) => text,
    hide: (text) => text.replaceAll('of the settings', '••••'),
  });
  const params = '{"arguments":{"path":"a","clientSecret":"x\\"y","token":"of the settings","n":1}}';
  const request = {
    method: 'tools/call',
    principal: anonymous,
    scope: { kind: 'global' },
    view: { kind: 'global' },
    params,
    message: { params: {} },
  } as unknown as FinishedCall['request'];
  for (const name of ['files', 'other']) {
    const answer = `{"content":[{"type":"text","text":"mcphub_${'0'.repeat(64)}"}]}`;
    const target = { server: name, key: 'tool' } as FinishedCall['target'];
    records.finished({ request, target, ms: 1, queueMs: 0, serverMs: 1, outcome: 'ok', error: undefined, answer });
  }
  const input = '{"arguments":{"path":"a","clientSecret":"••••","token":"••••","n":1}}';
  const output = '{"content":[{"type":"text","text":"••••"}]}';
  expect(kept[0]).toMatchObject(isKept ? { input, output } : { server: 'files' });
  expect('input' in (kept[0] ?? {})).toBe(isKept);
  expect(kept[1]).not.toHaveProperty('input');
});

test('a resource that was refused is recorded without the credentials in its URI', () => {
  const events: AuditEvent[] = [];
  const records = createCallRecords({
    called: () => undefined,
    audit: { counted: (event) => void events.push(event) },
    activity: { record: () => undefined, afterKeeping: (done) => done() },
    counts: { count: () => undefined },
    settings: () => settings({}),
    clean: (text) => text,
    hide: (text) => text,
  });
  const token = `ghp_${'aB3dE5gH7j'.repeat(4)}`;
  const uri = `https://user:pw@host.example/x?token=abc&n=${token}`;
  for (const found of [undefined, { server: 'files', key: uri }]) {
    const request = {
      method: 'resources/read',
      principal: anonymous,
      view: { resource: () => found },
      message: { params: { uri } },
    } as unknown as FinishedCall['request'];
    records.refusedRead(request, new HubError('policy', 'No.'));
  }
  const shown = 'https://••••@host.example/x?token=••••&n=••••';
  expect(events.map(({ target }) => target)).toEqual([shown, `files/${shown}`]);
});
