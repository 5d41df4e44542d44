import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { cliLimits } from '../../src/cli/limits.ts';
import { exitCodes } from '../../src/cli/exit.ts';
import { readEnv, variableNames } from '../../src/env/env.ts';
import { testHub } from '../kit/test-hub.ts';
import { at, baseManifests, chart, read, root, yaml } from './files.ts';

/** `name` → value, of what is said to the hub in each way that it is deployed. */
const environments: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Containerfile: assignments(read('deploy/Containerfile').split('\nENV ')[1]?.split('\nWORKDIR')[0] ?? ''),
  'compose.yaml': at(yaml('deploy/compose.yaml'), 'services.hub.environment') as Record<string, string>,
  'stateful-set.yaml': Object.fromEntries(
    (at(hubs(), 'spec.template.spec.containers.0.env') as { name: string; value: string }[]).map(({ name, value }) => [
      name,
      value,
    ]),
  ),
  'values.yaml': {
    ...(at(yaml(`${chart}/values.yaml`), 'secrets.files') as Record<string, string>),
    ...(at(yaml(`${chart}/values.yaml`), 'env') as Record<string, string>),
  },
  'toolhub.service': assignments(
    unit()
      .filter((line) => /^#?Environment=/.test(line))
      .map((line) => line.replace(/^#?Environment=/, ''))
      .join(' '),
  ),
};
/** What is for Node, npm and uv. */
const notOfTheHub = new Set(['NODE_ENV', 'HOME', 'npm_config_cache', 'UV_LINK_MODE']);

test.each(Object.keys(environments))('the hub reads every variable that is set in %s', (file) => {
  const names = Object.keys(environments[file] ?? {});
  expect(names.length).toBeGreaterThan(1);
  expect(names.filter((name) => !notOfTheHub.has(name) && !variableNames.includes(name))).toEqual([]);
});

test('the image listens on all addresses, on the port that everything else names, and keeps all on its volume', () => {
  const env = readEnv(environments['Containerfile'] ?? {}, '/nowhere');
  expect(env.host).toBe('0.0.0.0');
  const containerfile = read('deploy/Containerfile');
  const volume = /^VOLUME (\S+)$/m.exec(containerfile)?.[1] ?? '';
  for (const path of [env.dataDir, env.settingsPath, environments['Containerfile']?.['HOME'] ?? ''])
    expect(path.startsWith(`${volume}/`), path).toBe(true);
  const container = at(hubs(), 'spec.template.spec.containers.0');
  expect(/^EXPOSE (\d+)$/m.exec(containerfile)?.[1]).toBe(String(env.port));
  expect(at(container, 'ports.0.containerPort')).toBe(env.port);
  expect(at(yaml('deploy/compose.yaml'), 'services.hub.ports.0')).toMatch(
    new RegExp(`^127\\.0\\.0\\.1:.*:${env.port}$`),
  );
  expect(at(container, 'volumeMounts.0')).toEqual({ name: 'data', mountPath: volume });
  expect(at(yaml('deploy/compose.yaml'), 'services.hub.volumes.0')).toBe(`hub:${volume}`);
});

test('nothing runs as root or writes to the root file system', () => {
  const user = /^USER (\d+):(\d+)$/m.exec(read('deploy/Containerfile'));
  expect(at(hubs(), 'spec.template.spec.securityContext')).toMatchObject({
    runAsNonRoot: true,
    runAsUser: Number(user?.[1]),
    runAsGroup: Number(user?.[2]),
    fsGroup: Number(user?.[2]),
  });
  expect(Number(user?.[1])).toBeGreaterThan(0);
  expect(at(hubs(), 'spec.template.spec.containers.0.securityContext')).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  });
  const compose = yaml('deploy/compose.yaml');
  for (const service of ['hub', 'postgres']) {
    expect(at(compose, `services.${service}.read_only`)).toBe(true);
    expect(at(compose, `services.${service}.cap_drop`)).toEqual(['ALL']);
  }
});

test('each probe asks for a path that a hub answers', async () => {
  const text = [
    'Containerfile',
    'compose.yaml',
    'kubernetes/base/stateful-set.yaml',
    'helm/toolhub/templates/stateful-set.yaml',
  ]
    .map((name) => read(`deploy/${name}`))
    .join('\n');
  const paths = [...new Set([...text.matchAll(/\/health(?:\/\w+)?/g)].map(([path]) => path))].toSorted();
  expect(paths).toEqual(['/health/live', '/health/ready']);
  const hub = await testHub({ mcpServers: {} });
  for (const path of paths) expect((await fetch(`${hub.url}${path}`)).status, path).toBe(200);
});

test('each way of running it waits until a hub has stopped by itself', () => {
  const waits = {
    compose: Number.parseInt(String(at(yaml('deploy/compose.yaml'), 'services.hub.stop_grace_period')), 10),
    systemd: Number(/^TimeoutStopSec=(\d+)$/m.exec(unit().join('\n'))?.[1]),
    kubernetes:
      Number(at(hubs(), 'spec.template.spec.terminationGracePeriodSeconds')) -
      Number(at(hubs(), 'spec.template.spec.containers.0.lifecycle.preStop.exec.command.1')),
  };
  for (const [way, seconds] of Object.entries(waits)) expect(seconds * 1000, way).toBeGreaterThan(cliLimits.stopMs);
});

test('all name the version of the package', () => {
  const { version } = JSON.parse(read('package.json')) as { version: string };
  expect(at(yaml(`${chart}/Chart.yaml`), 'version')).toBe(version);
  expect(at(yaml(`${chart}/Chart.yaml`), 'appVersion')).toBe(version);
  expect(at(yaml('deploy/kubernetes/base/kustomization.yaml'), 'images.0.newTag')).toBe(version);
});

test('every secret of compose.yaml is one that make-secrets.sh makes', () => {
  const secrets = Object.keys(at(yaml('deploy/compose.yaml'), 'secrets') as object);
  const made = [...read('deploy/make-secrets.sh').matchAll(/^put (\w+) /gm)].map(([, name]) => name);
  expect(new Set(made)).toEqual(new Set(secrets));
});

test('a build of the image gets no secret, no data and nothing that was installed here', () => {
  const left = read('.dockerignore').split('\n');
  for (const name of ['.git', '.env', 'data', 'mcp_settings.json', '**/node_modules', 'dist', 'deploy'])
    expect(left).toContain(name);
});

test('the unit names what exists, and does not start again what is misconfigured', () => {
  const text = unit().join('\n');
  expect(text).toContain('/opt/toolhub/dist/cli.js serve');
  expect(read('deploy/Containerfile')).toContain('"/opt/toolhub/dist/cli.js"');
  expect(/^RestartPreventExitStatus=(\d+)$/m.exec(text)?.[1]).toBe(String(exitCodes.misconfigured));
});

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;

test.skipIf(!hasSystemd)('systemd takes the unit, with and without sandboxes, and calls it hardened', () => {
  const path = `${root}deploy/systemd/toolhub.service`;
  const verify = spawnSync('systemd-analyze', ['verify', path], { encoding: 'utf8' });
  // It looks for the program too, which need not be here.
  const said = verify.stderr.split('\n').filter((line) => line !== '' && !/\/usr\/bin\/node/.test(line));
  expect(said).toEqual([]);
  const judged = spawnSync('systemd-analyze', ['security', '--offline=true', '--threshold=20', path], {
    encoding: 'utf8',
  });
  expect(judged.status, judged.stdout).toBe(0);
});

function hubs() {
  return baseManifests().find(({ kind }) => kind === 'StatefulSet');
}

function unit(): string[] {
  return read('deploy/systemd/toolhub.service').split('\n');
}

/** `A=1 B=2`, over several lines. */
function assignments(text: string): Record<string, string> {
  return Object.fromEntries([...text.matchAll(/(\w+)=(\S+)/g)].map(([, name = '', value = '']) => [name, value]));
}
