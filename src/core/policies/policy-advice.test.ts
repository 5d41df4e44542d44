import { describe, expect, test } from 'vitest';
import type { Catalogue, Item, Offer } from '../catalogue.ts';
import { entry, group, key, server, settings, user } from '../../../test/kit/snapshots.ts';
import { remark } from '../remarks.ts';
import { policyAdvice, policyEntities } from './policy-advice.ts';

const item = (name: string, more: object = {}): Item => ({ key: name, text: JSON.stringify({ name, ...more }) });
const properties = { sql: { type: 'string' }, 'a b': {} };

const db: Offer = {
  server: 'db',
  about: { info: '{}', instructions: undefined, capabilities: [], protocolVersion: '' },
  tools: [
    item('query', { inputSchema: { type: 'object', properties } }),
    item('list'),
    item('open', { inputSchema: { type: 'object' } }),
    item('a/b', { inputSchema: { properties: {} } }),
  ],
  prompts: [item('ask')],
  resources: [item('x://1')],
  templates: [],
};
const catalogue: Catalogue = { version: 1, offers: new Map([['db', db]]) };
const now = {
  catalogue,
  settings: settings({
    servers: [server('db'), server('asleep')],
    groups: [group('other', []), group('dev', [entry('db')])],
    users: [user('root'), user('ann')],
    keys: [key('k0'), key('k1')],
  }),
};
const advice = (policy: string) =>
  policyAdvice(policy, now).map(({ text, said }) => {
    expect(remark(said.code, said.values).text).toBe(text);
    return text;
  });
const about = (scope: string, condition = 'true') => `forbid(${scope}) when { ${condition} };`;

describe('what is there is not told', () => {
  test.each([
    'principal, action, resource',
    'principal == User::"ann", action, resource',
    'principal == User::"issuer#ann", action, resource',
    'principal == Key::"k1", action, resource',
    'principal == Anonymous::"anything", action, resource',
    'principal in Group::"dev", action, resource',
    'principal, action in [Action::"call", Action::"readResource", Action::"getPrompt"], resource',
    'principal, action, resource in Server::"asleep"',
    'principal, action, resource == Tool::"db/query"',
    'principal, action, resource == Tool::"db/a/b"',
    'principal, action, resource == Prompt::"db/ask"',
    // A server may have resources that it does not list, and what one offers that was never there is not known.
    'principal, action, resource == Resource::"db/x://2"',
    'principal, action, resource == Tool::"asleep/query"',
  ])('%s', (scope) => {
    expect(advice(about(scope))).toEqual([]);
  });
});

describe('what is not there is told', () => {
  test.each([
    ['principal == User::"bob", action, resource', 'There is no user "bob" (User::"bob").'],
    ['principal == Key::"ann", action, resource', 'There is no access key with the id "ann" (Key::"ann").'],
    ['principal in Group::"id-dev", action, resource', 'There is no group with the name "id-dev" (Group::"id-dev").'],
    ['principal in Team::"dev", action, resource', 'Team::"dev" is no kind of thing that the hub has.'],
    [
      'principal, action == Action::"read", resource',
      'Action::"read" is no action. There are: call, readResource, getPrompt.',
    ],
    ['principal, action, resource in Server::"mail"', 'There is no server "mail" (Server::"mail").'],
    ['principal, action, resource == Tool::"mail/send"', 'There is no server "mail" (Tool::"mail/send").'],
    ['principal, action, resource == Tool::"db/send"', 'Server "db" offers no such thing (Tool::"db/send").'],
    ['principal, action, resource == Prompt::"db/query"', 'Server "db" offers no such thing (Prompt::"db/query").'],
    ['principal, action, resource == Resource::"mail/x"', 'There is no server "mail" (Resource::"mail/x").'],
    ['principal, action, resource == Tool::"query"', 'Tool::"query" names no server: expected "<server>/<name>".'],
    ['principal, action, resource == Tool::"/query"', 'Tool::"/query" names no server: expected "<server>/<name>".'],
  ])('%s', (scope, message) => {
    expect(advice(about(scope))).toEqual([message]);
  });

  test('in conditions, in every policy, and once', () => {
    const mail = 'There is no server "mail" (Server::"mail").';
    expect(advice(about('principal, action, resource', 'resource in [Server::"db", Server::"mail"]'))).toEqual([mail]);
    const both = about('principal == User::"bob", action, resource in Server::"mail"');
    expect(advice(`${both}\n${both}\n${about('principal, action, resource in Server::"mail"')}`)).toEqual([
      'There is no user "bob" (User::"bob").',
      mail,
    ]);
  });

  test('where a group is to be asked', () => {
    const asks = (who: string) => advice(`@approve${who} forbid(principal, action, resource);`);
    for (const who of ['("caller")', '("admin")', '("dev")', '']) expect(asks(who)).toEqual([]);
    expect(asks('("ops")')).toEqual(['There is no group "ops" that @approve could ask.']);
  });
});

describe('arguments that a tool does not have are told', () => {
  const of = (tool: string, condition: string) =>
    advice(about(`principal, action, resource == Tool::"${tool}"`, condition));
  const sqlx = 'context.arguments.sqlx == "x"';

  test('where a policy names one tool that says what it takes', () => {
    expect(of('db/query', 'context.arguments.sql == "x" && context.arguments["a b"] == 1')).toEqual([]);
    expect(of('db/query', `${sqlx} && context.arguments has toString`)).toEqual([
      'The tool db/query has no argument "sqlx".',
      'The tool db/query has no argument "toString".',
    ]);
    expect(of('db/a/b', sqlx)).toEqual(['The tool db/a/b has no argument "sqlx".']);
    expect(advice(about('principal == User::"ann", action, resource == Tool::"db/query"', sqlx))).toHaveLength(1);
  });

  test.each([
    ['one that says nothing', 'db/list', sqlx],
    ['one that names none', 'db/open', sqlx],
    ['one of a server that was never there', 'asleep/query', sqlx],
    ['one that is used as a whole', 'db/query', 'context.arguments == {"sqlx": "x"}'],
    ['one of several', 'db/query', `resource == Tool::"db/list" && ${sqlx}`],
  ])('but not for %s', (_, tool, condition) => {
    expect(of(tool, condition)).toEqual([]);
  });

  test('nor where it names no tool, or none that is there', () => {
    expect(advice(about('principal, action, resource in Server::"db"', sqlx))).toEqual([]);
    expect(of('db/send', sqlx)).toHaveLength(1);
    expect(of('query', sqlx)).toHaveLength(1);
  });
});

test('a text says what it names, but for actions, once', () => {
  const text = `
    forbid(principal in Group::"a \\"b\\"", action == Action::"call", resource in Server::"db")
      when { resource == Tool::"db/query" || principal == User::"ann" };
    forbid(principal, action, resource in Server::"db");`;
  expect(policyEntities(text)).toEqual(['Group::"a \\"b\\""', 'Server::"db"', 'Tool::"db/query"', 'User::"ann"']);
  expect(policyEntities('forbid(')).toEqual([]);
});
