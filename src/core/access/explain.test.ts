import { describe, expect, test } from 'vitest';
import { catalogue, entry, group, key, type Parts, server, settings, user } from '../../../test/kit/snapshots.ts';
import { ann, type Asked, db, explained, offer, why } from '../../../test/kit/why.ts';
import { anonymous, type Principal, principalOf } from './principal.ts';
import type { Scope } from './scope.ts';
import { tieBreakName } from './tool-name.ts';
import { view } from './view.ts';

const access = async (asked: Asked) => (await why(asked)).steps[0];
const named = (name: string): Scope => ({ kind: 'named', name });

describe('every step of a decision', () => {
  test('for a call that goes on', async () => {
    expect(await why()).toEqual({
      allowed: true,
      steps: [
        { step: 'access', result: 'allow', reason: 'The server is public.' },
        { step: 'pin', result: 'allow', reason: 'The tool is approved.' },
        { step: 'policy', result: 'none', reason: 'There are no policies.' },
        { step: 'approval', result: 'none', reason: 'No approval is needed.' },
        { step: 'limit', result: 'none', reason: 'No limit applies.' },
      ],
    });
  });

  test.each([
    ['access', { tool: 'db-nothing' }, 'Server "db" offers no tool "nothing".', []],
    [
      'pin',
      { pin: () => ({ state: 'changed', isHeld: true }) },
      'The tool is changed and waits for the approval of an admin.',
      ['access'],
    ],
    [
      'policy',
      { policies: ['forbid(principal, action, resource);'] },
      'The policy "p0" forbids it.',
      ['access', 'pin'],
    ],
  ])('after %s refuses no other is asked', async (by, asked: Asked, reason, before) => {
    const { allowed, steps } = await why(asked);
    expect(allowed).toBe(false);
    expect(steps.map(({ step }) => step)).toEqual(['access', 'pin', 'policy', 'approval', 'limit']);
    const at = before.length;
    expect(steps.slice(0, at).map(({ result }) => result)).toEqual(before.map(() => 'allow'));
    expect(steps[at]).toMatchObject({ step: by, result: 'refuse', reason });
    for (const { result, reason: why } of steps.slice(at + 1))
      expect([result, why]).toEqual(['none', `Not asked: ${by} refuses.`]);
  });
});

describe('the tool that is asked about', () => {
  test.each(['db-query', 'db/query'])('may be named %s', async (tool) => {
    expect((await why({ tool })).allowed).toBe(true);
  });

  test('on a group for the search of tools, and on a server of its own', async () => {
    const parts: Parts = { servers: [db], users: [ann], groups: [group('dev', [entry('db', { tools: ['query'] })])] };
    for (const tool of ['db-query', 'db/query'])
      expect(await access({ tool, parts, scope: { kind: 'smart', group: 'dev' } })).toMatchObject({ result: 'allow' });
    expect(await access({ tool: 'db/drop', parts, scope: { kind: 'smart', group: 'dev' } })).toMatchObject({
      result: 'refuse',
      reason: 'The group "dev", or the groups that give access, do not show this tool.',
    });
    expect(await access({ tool: 'search_tools', parts, scope: { kind: 'smart', group: 'dev' } })).toMatchObject({
      result: 'refuse',
      reason: 'No server offers a tool "search_tools".',
    });
    expect(await access({ tool: 'query', parts, scope: named('db') })).toMatchObject({ result: 'allow' });
  });

  test('is found by its exposed name where it is hidden', async () => {
    const long = 'x'.repeat(80);
    const known = catalogue(offer('a', ['b-c', long]), offer('a-b', ['c']));
    const hidden: Parts = {
      servers: ['a', 'a-b'].map((name) => server(name, { visibility: 'private' })),
      users: [ann],
    };
    const seen: Parts = { servers: [server('a'), server('a-b')], users: [user('root', { role: 'admin' })] };
    const names = view(settings(seen), known, principalOf(user('root', { role: 'admin' })), { kind: 'all' });
    expect(names.lists.tools.targets).toHaveLength(3);
    for (const [i, { server: of }] of names.lists.tools.targets.entries()) {
      const { name } = JSON.parse(names.lists.tools.texts.at(i) ?? '') as { name: string };
      expect(await access({ tool: name, catalogue: known, parts: hidden })).toMatchObject({
        reason: expect.stringContaining(`no access to server "${of}"`) as string,
      });
    }
  });

  test('is found by the name that two tools of one name would have, and on a server that was removed', async () => {
    const gone = catalogue(offer('db', ['query']), offer('gone', ['tool']));
    expect(await access({ tool: tieBreakName('db', 'query', '-'), catalogue: gone })).toMatchObject({
      result: 'allow',
    });
    expect(await access({ tool: 'gone-tool', catalogue: gone })).toMatchObject({
      reason: 'There is no server "gone".',
    });
  });

  test('is found by the name that the settings give it, where it is hidden too', async () => {
    const override = { name: 'ask' };
    const tools = new Map([['query', { enabled: true, description: undefined, override }]]);
    const parts = { servers: [server('db', { visibility: 'private', tools })], users: [ann] };
    expect(await access({ tool: 'db-ask', parts })).toMatchObject({
      reason: expect.stringContaining('no access to server "db"') as string,
    });
    expect(await access({ tool: 'db-nothing', parts, principal: anonymous })).toMatchObject({ result: 'refuse' });
    const open = { servers: [server('db', { visibility: 'public', tools, enabled: false })], users: [ann] };
    expect(await access({ tool: 'db-ask', parts: open })).toMatchObject({ reason: 'Server "db" is switched off.' });
    const read = { servers: [server('db', { visibility: 'public', tools })], users: [ann] };
    const byKey = { ...read, keys: [key('k', { kind: 'user', owner: 'ann', readOnly: true })] };
    expect(await access({ tool: 'db-ask', parts: byKey, principal: { kind: 'key', id: 'k' } })).toMatchObject({
      reason: 'The key only reads, and the tool does not say that it only reads.',
    });
  });

  test('is found by the name that a group gives it, where it is switched off or held back', async () => {
    const tools = new Map([['query', { enabled: false, description: undefined }]]);
    const overrides = new Map([['query', { name: 'ask' }]]);
    const groups = [group('dev', [entry('db', { alias: 'base', overrides })])];
    const of = (more: object): Parts => ({ servers: [{ ...db, ...more }], users: [ann], groups });
    expect(await access({ tool: 'base-ask', parts: of({ tools }), scope: named('dev') })).toMatchObject({
      reason: 'The tool is switched off on server "db".',
    });
    expect(await access({ tool: 'base-ask', parts: of({ tools }) })).toMatchObject({
      reason: 'No server offers a tool "base-ask".',
    });
  });

  test('is that of the server with the longest name where none offers it', async () => {
    const parts: Parts = { servers: [server('a'), server('a-b'), server('a-b-c-d')], users: [ann] };
    const known = catalogue(offer('a', []), offer('a-b', []));
    const reason = (tool: string) => access({ tool, parts, catalogue: known, principal: anonymous });
    expect(await reason('a-b-c')).toMatchObject({ reason: 'Server "a-b" offers no tool "c".' });
    expect(await reason('a-x')).toMatchObject({ reason: 'Server "a" offers no tool "x".' });
    expect(await reason('a/b-c')).toMatchObject({ reason: 'Server "a" offers no tool "b-c".' });
    expect(await reason('x-b')).toMatchObject({ reason: 'No server offers a tool "x-b".' });
    expect(await reason('/b')).toMatchObject({ reason: 'No server offers a tool "/b".' });
    expect(await access({ tool: 'dbx' })).toMatchObject({ reason: 'No server offers a tool "dbx".' });
    expect(await reason('x/b')).toMatchObject({ reason: 'No server offers a tool "x/b".' });
  });
});

describe('why access is given', () => {
  const root = user('root', { role: 'admin' });
  test.each<[string, Parts, Principal, string, string | undefined]>([
    [
      'the owner',
      { servers: [server('db', { owner: 'ann' })], users: [ann] },
      principalOf(ann),
      'ann owns the server.',
      undefined,
    ],
    [
      'a group',
      {
        servers: [server('db', { visibility: 'private' })],
        users: [user('ann', { groups: ['dev'] })],
        groups: [group('dev', [entry('db')])],
      },
      principalOf(ann),
      'The group "dev" gives access.',
      'dev',
    ],
    [
      'a key',
      { servers: [server('db')], keys: [key('k', { name: 'robot' })] },
      { kind: 'key', id: 'k' },
      'The access key "robot" opens it (all).',
      'k',
    ],
    ['an admin', { servers: [server('db')], users: [root] }, principalOf(root), 'root is an admin.', undefined],
  ])('%s', async (_, parts, principal, reason, ref) => {
    const step = { step: 'access', result: 'allow', reason, ...(ref !== undefined && { ref }) };
    expect(await access({ parts, principal })).toEqual(step);
    // Others who may ask at all are told the same of what they see.
    for (const pin of [() => undefined, () => ({ state: 'approved', isHeld: false })])
      expect(await access({ parts, principal, isAdmin: false, pin })).toEqual(step);
  });
});

describe('why access is not given', () => {
  const shut = server('db', { visibility: 'private' });
  const dev = group('dev', [entry('other')]);
  // A tool of that name is seen on another server.
  const both = catalogue(offer('db', ['query']), offer('other', ['query']));
  test.each<[string, Asked]>([
    ['The user or key does not exist, is disabled, or has expired.', { principal: principalOf(user('gone')) }],
    ['No server offers a tool "nothing".', { tool: 'nothing' }],
    ['Server "db" is switched off.', { parts: { servers: [server('db', { enabled: false })], users: [ann] } }],
    ['The endpoint /mcp/nowhere does not exist for this caller.', { scope: named('nowhere') }],
    [
      'The endpoint /mcp does not exist for this caller.',
      {
        parts: { servers: [db], keys: [key('k', { accessType: 'servers', allowedServers: ['db'] })] },
        principal: { kind: 'key', id: 'k' },
      },
    ],
    [
      'The caller has no access to server "db": it is not theirs, not public, and in none of their groups.',
      { parts: { servers: [shut, server('other', { visibility: 'public' })], users: [ann] }, catalogue: both },
    ],
    [
      'Server "db" is not on the endpoint /mcp/dev.',
      {
        parts: { servers: [server('other', { visibility: 'public' }), db], users: [ann], groups: [dev] },
        scope: named('dev'),
      },
    ],
    ['Server "db" has not listed its tools yet: it is not connected.', { catalogue: catalogue() }],
    ['Server "db" offers no tool "x".', { tool: 'db/x' }],
    [
      'The tool is switched off on server "db".',
      {
        parts: {
          servers: [{ ...db, tools: new Map([['query', { enabled: false, description: undefined }]]) }],
          users: [ann],
        },
      },
    ],
    [
      'The key only reads, and the tool does not say that it only reads.',
      {
        parts: { servers: [db], users: [ann], keys: [key('k', { kind: 'user', owner: 'ann', readOnly: true })] },
        principal: { kind: 'key', id: 'k' },
      },
    ],
    [
      'The groups that give access do not show this tool.',
      {
        parts: {
          servers: [shut],
          users: [user('ann', { groups: ['dev'] })],
          groups: [group('dev', [entry('db', { tools: ['drop'] })])],
        },
      },
    ],
  ])('%s', async (reason, asked) => {
    expect(await access(asked)).toEqual({ step: 'access', result: 'refuse', reason });
    const { tool = 'db-query' } = asked;
    expect(await access({ ...asked, isAdmin: false })).toEqual({
      step: 'access',
      result: 'refuse',
      reason: `There is no tool "${tool}" on this endpoint.`,
    });
    // Where pins are off too.
    expect(await access({ ...asked, pin: () => undefined })).toMatchObject({ result: 'refuse', reason });
  });

  test('a name for which two servers stand is no tool of the first on the endpoint', async () => {
    const readOnly = catalogue(offer('db', ['query'], { readOnlyHint: true }));
    const parts = { servers: [db], users: [ann], keys: [key('k', { kind: 'user', owner: 'ann', readOnly: true })] };
    const asked = { parts, principal: { kind: 'key', id: 'k' }, catalogue: readOnly } as const;
    expect(await access(asked)).toMatchObject({ result: 'allow' });
  });
});

describe('pins', () => {
  const held = () => ({ state: 'new', isHeld: true });
  // What is held back is not in the catalogue of what callers see.
  const without = catalogue(offer('db', []));

  test('what is held back is within reach, and admins are told that it waits', async () => {
    const parts = { servers: [server('other', { visibility: 'public' }), db], users: [ann] };
    const { steps } = await why({ parts, catalogue: without, pin: held, tool: 'db/query' });
    expect(steps.slice(0, 2)).toEqual([
      { step: 'access', result: 'allow', reason: 'The server is within reach.' },
      { step: 'pin', result: 'refuse', reason: 'The tool is new and waits for the approval of an admin.' },
    ]);
  });

  test('what is rejected has names of its own, as it is neither new nor changed', async () => {
    const step = async (isHeld: boolean) =>
      (
        await explained({
          ...(isHeld && { catalogue: without }),
          tool: 'db/query',
          pin: () => ({ state: 'rejected', isHeld }),
        })
      ).steps[1];
    expect(await step(true)).toMatchObject({
      reason: 'The tool is rejected and waits for the approval of an admin.',
      said: { code: 'why_pin_rejected_held' },
    });
    expect(await step(false)).toMatchObject({
      reason: 'The tool is rejected.',
      said: { code: 'why_pin_rejected' },
    });
  });

  test('others learn nothing of it', async () => {
    const hidden = { step: 'access', result: 'refuse', reason: 'There is no tool "db/query" on this endpoint.' };
    expect(await access({ catalogue: without, pin: held, tool: 'db/query', isAdmin: false })).toEqual(hidden);
    expect(await access({ pin: held, tool: 'db/query', isAdmin: false })).toEqual(hidden);
  });

  test('what waits and is out of reach is out of reach', async () => {
    const other = server('other', { visibility: 'public' });
    const parts = { servers: [server('db', { visibility: 'private' }), other], users: [ann] };
    expect(await access({ parts, catalogue: without, pin: held, tool: 'db/query' })).toMatchObject({
      result: 'refuse',
      reason: expect.stringContaining('no access') as string,
    });
    expect(await access({ parts: { ...parts, servers: [] }, pin: held, tool: 'db/query' })).toMatchObject({
      reason: 'No server offers a tool "db/query".',
    });
  });

  test('may be off', async () => {
    expect((await why({ pin: () => undefined })).steps[1]).toEqual({
      step: 'pin',
      result: 'none',
      reason: 'Pins are off for this server.',
    });
  });
});
