import { readFileSync } from 'node:fs';
import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import { login } from '../kit/api.ts';
import { hostileHttp } from '../kit/hostile.ts';
import { raw, rpc } from '../kit/raw.ts';
import { testHub } from '../kit/test-hub.ts';

// deploy/grafana and deploy/prometheus ask for what a hub has.

interface Target {
  readonly expr: string;
}
interface Dashboard {
  readonly panels: { readonly targets?: Target[] }[];
  readonly templating: { readonly list: { readonly query: string | { readonly query: string } }[] };
}
interface Rules {
  readonly groups: { readonly rules: { readonly alert: string; readonly expr: string }[] }[];
}

const read = (path: string) => readFileSync(new URL(`../../deploy/${path}`, import.meta.url), 'utf8');

function queries(): string[] {
  const { panels, templating } = JSON.parse(read('grafana/toolhub.json')) as Dashboard;
  const { groups } = load(read('prometheus/alerts.yaml')) as Rules;
  return [
    ...panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
    ...templating.list.flatMap(({ query }) => (typeof query === 'string' ? [] : [query.query])),
    ...groups.flatMap(({ rules }) => rules.map(({ expr }) => expr)),
  ];
}

test('every metric and label that the dashboard and the alerts ask for is in /metrics', async () => {
  const server = await hostileHttp({ tools: ['echo'] });
  const hub = await testHub({ mcpServers: { a: server.config } });
  await hub.connected(1);
  await rpc(hub.mcp(), 'tools/call', { name: 'a-echo', arguments: {} });
  const authorization = `Bearer ${await login(hub)}`;
  const { text } = await raw(new URL('/metrics', hub.url).href, { method: 'GET', headers: { authorization } });
  const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const labelsOf = new Map<string, Set<string>>();
  for (const sample of samples) {
    const name = /^\w+/.exec(sample)?.[0] ?? '';
    const labels = [...sample.matchAll(/(\w+)="/g)].map(([, label = '']) => label);
    labelsOf.set(name, new Set([...(labelsOf.get(name) ?? []), ...labels]));
  }

  const asked = queries();
  const metric = /\b(?:toolhub|process|nodejs)_\w+/g;
  const names = new Set(asked.flatMap((query) => [...query.matchAll(metric)].map(([name]) => name)));
  expect(names.size).toBeGreaterThan(15);
  expect([...names].filter((name) => !labelsOf.has(name))).toEqual([]);

  const given = new Set(['job', 'instance', 'le']);
  for (const query of asked) {
    const known = new Set([...query.matchAll(metric)].flatMap(([name]) => [...(labelsOf.get(name) ?? [])]));
    const wanted = [
      ...[...query.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/, */)),
      ...[...query.matchAll(/[{,]\s*(\w+)=~?"/g)].map(([, label = '']) => label),
    ];
    expect(
      wanted.filter((label) => !given.has(label) && !known.has(label)),
      query,
    ).toEqual([]);
  }
});
