import type { PolicyContext, PolicyPrincipal, PolicyResource } from '../../src/core/policies/policy-set.ts';

// A call that policies are asked about: who, of what, and from where.

export const ann: PolicyPrincipal = { type: 'User', id: 'ann', groups: ['dev'], role: 'user', name: 'ann' };
export const query: PolicyResource = {
  type: 'Tool',
  server: 'db',
  key: 'query',
  readOnly: false,
  destructive: true,
  openWorld: true,
};
export const context: PolicyContext = {
  arguments: {},
  mode: 'tools',
  scope: '',
  client: 'agent',
  address: '10.1.2.3',
  time: Date.parse('2026-11-25T10:00:00Z'),
};
