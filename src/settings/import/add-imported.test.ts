import { expect, test } from 'vitest';
import type { Draft, Editor } from '../document/document.ts';
import { addImported } from './add-imported.ts';

const by: Editor = { username: 'root', isAdmin: true, seesServer: () => true, seesGroup: () => true };

test('an imported server runs unless its owner is unknown to this hub; programs and what is the system’s go on', () => {
  const draft: Draft = { users: [{ username: 'root', isAdmin: true }, { username: 'ann' }], mcpServers: {} };
  const url = 'https://x.example/mcp';
  const servers = Object.entries({
    nobodys: { url },
    system: { url, owner: 'admin' },
    anns: { url, owner: 'ann' },
    foreign: { url, owner: 'bob', disabled: false },
    loud: { url, owner: 'ann', visibility: 'public', publishedBy: 'root' },
    program: { command: 'x', owner: 'bob', bundle: { folder: 'x-1' } },
  }).map(([name, config]) => ({ name, config, requiredConfig: [] }));
  const results = addImported(draft, by, servers, () => ({ errors: [], advice: ['Advice.'] }));
  expect(draft.mcpServers).toEqual({
    nobodys: { url, owner: 'root' },
    system: { url, owner: 'root' },
    anns: { url, owner: 'ann' },
    foreign: { url, owner: 'root', enabled: false },
    // Not public for it (`isPublic`).
    loud: { url, owner: 'ann', visibility: 'public' },
    program: { command: 'x', owner: 'root' },
  });
  const told = results.filter(({ message }) => message !== 'Server added successfully. Advice.');
  expect(told.map(({ name, message }) => [name, message])).toEqual([
    ['foreign', expect.stringMatching(/^Server added successfully\. It was bob's, .*switched off.* Advice\.$/)],
    ['loud', expect.stringContaining("It is ann's, and public once an admin makes it public here. Advice.")],
  ]);
});
