import { expect, test } from 'vitest';
import { addGroup, updateGroup } from '../group/group-edits.ts';
import type { GroupEditor } from '../group/group-servers.ts';
import { addServer, updateServer } from '../server/server-edits.ts';
import type { Draft } from './document.ts';

const admin: GroupEditor = {
  username: 'admin',
  isAdmin: true,
  seesServer: () => true,
  seesGroup: () => true,
  granted: () => ({ tools: 'all', prompts: 'all', resources: 'all', readOnly: false }),
  manages: () => true,
  knownTools: () => undefined,
  shownTool: (prefix, tool) => `${prefix}-${tool}`,
};
const ann: GroupEditor = { ...admin, username: 'ann', isAdmin: false };
const taken = expect.objectContaining({ code: 'conflict', message: expect.stringContaining('is taken') as string });
const documentNow = (more: Draft): Draft =>
  structuredClone({
    mcpServers: { mail: { url: 'https://mail.example', owner: 'ann' } },
    groups: [{ id: 'g', name: 'dev', servers: [], owner: 'ann' }],
    ...more,
  });

test('a name on a list of another user, key or group is taken for users, also as a new name', () => {
  const given: Draft[] = [
    { users: [{ username: 'bob', servers: ['soon'] }] },
    { bearerKeys: [{ id: 'k', allowedServers: ['soon'] }] },
    { bearerKeys: [{ id: 'k', owner: 'bob', allowedServers: ['soon'] }] },
    { groups: [{ id: 'g', name: 'dev', servers: ['soon'] }] },
    { groups: [{ id: 'g', name: 'dev', servers: [{ name: 'soon', tools: 'all' }], owner: 'bob' }] },
  ];
  const soon = { name: 'soon', config: { url: 'https://x' } };
  for (const more of given) {
    const draft = documentNow(more);
    expect(() => addServer(draft, ann, soon)).toThrow(taken);
    expect(() => updateServer(draft, ann, 'mail', { newName: 'soon' })).toThrow(taken);
    addServer(draft, admin, soon);
  }
  const own: Draft[] = [
    { users: [{ username: 'ann', servers: ['soon'] }] },
    { bearerKeys: [{ id: 'k', owner: 'ann', allowedServers: ['soon'] }] },
    { groups: [{ id: 'g', name: 'dev', servers: ['soon'], owner: 'ann' }] },
    { users: [{ username: 'bob', servers: 'soon' }], groups: [{ id: 'g', servers: { soon: 1 } }] },
  ];
  for (const more of own) addServer(documentNow(more), ann, soon);
});

test('a name that is given to other users or keys, or that claims are mapped to, is taken for users', () => {
  const auth = (more: object): Draft => ({ systemConfig: { auth: more } });
  const given: Draft[] = [
    { users: [{ username: 'bob', groups: ['soon'] }] },
    { bearerKeys: [{ id: 'k', allowedGroups: ['soon'] }] },
    auth({ oidc: [{ id: 'corp', groups: { eng: ['x', 'soon'] } }] }),
    auth({ trustedIssuers: [{ issuer: 'https://x', groups: { eng: 'soon' } }] }),
  ];
  for (const more of given) {
    const draft = documentNow(more);
    expect(() => addGroup(draft, ann, { name: 'soon' })).toThrow(taken);
    expect(() => updateGroup(draft, ann, 'dev', { name: 'soon' })).toThrow(taken);
    addGroup(draft, admin, { name: 'soon' });
  }
  const own: Draft[] = [
    { users: [{ username: 'ann', groups: ['soon'] }] },
    { bearerKeys: [{ id: 'k', owner: 'ann', allowedGroups: ['soon'] }] },
    auth({ oidc: 'soon', trustedIssuers: [null, { groups: ['soon'] }] }),
  ];
  for (const more of own) addGroup(documentNow(more), ann, { name: 'soon' });
});
