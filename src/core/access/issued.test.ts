import { describe, expect, test } from 'vitest';
import { entry, group, server, settings, user } from '../../../test/kit/snapshots.ts';
import { issuedPrincipal, principalFromId, principalId } from './principal.ts';
import { isAdmin, isGone } from './identity.ts';
import { resolve } from './rules.ts';
import type { Scope } from './scope.ts';

const all: Scope = { kind: 'all' };
const named = (name: string): Scope => ({ kind: 'named', name });

describe('the holder of a token of a trusted issuer', () => {
  const parts = {
    servers: [server('s', { visibility: 'private' }), server('open', { visibility: 'public' })],
    groups: [group('g', [entry('s', { tools: ['read'] })], { visibility: 'private' }), group('h', [entry('open')])],
    users: [user('root', { role: 'admin' })],
  };
  const issuer = {
    issuer: 'https://id.example',
    audiences: ['toolhub'],
    jwksUri: undefined,
    usernameClaim: undefined,
    groupsClaim: 'groups',
    groups: new Map([['eng', ['g']]]),
  };
  const base = settings(parts);
  const trusting = { ...base, system: { ...base.system, trustedIssuers: [issuer] } };
  const holder = (values: string[]) => issuedPrincipal('https://id.example', 'root', 'root', values);

  test('reaches what its groups select, and no group or server besides', () => {
    const seen = (scope: Scope, values = ['eng']) =>
      resolve(trusting, holder(values), scope).members.map(({ server, tools }) => [server.name, tools]);
    expect(seen(all)).toEqual([['s', ['read']]]);
    expect(seen(named('g'))).toEqual([['s', ['read']]]);
    for (const scope of [named('h'), named('open')]) expect(seen(scope)).toEqual([]);
    expect(seen(all, ['other', 'g'])).toEqual([]);
    expect(isAdmin(trusting, holder(['eng']))).toBe(false);
  });

  test('is gone with the trust in its issuer', () => {
    expect([isGone(trusting, holder([])), isGone(base, holder(['eng']))]).toEqual([false, true]);
    expect(resolve(base, holder(['eng']), all).members).toEqual([]);
  });

  test('is found again by its id', () => {
    expect(principalFromId(principalId(holder(['eng', 'a"b'])))).toEqual(holder(['eng', 'a"b']));
  });
});
