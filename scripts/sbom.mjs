// The bill of materials of a release, as CycloneDX: what `npm sbom` knows of the lock file, cut down to what users get.
// That is what npm installs for them, and the packages that the bundles of dist/ contain; tools of the development are
// not in it.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/** The files in which the build says what its bundles contain (licences.mjs). */
const lists = ['dist/licences.txt', 'dist/web/licences.txt'];

export function billOfMaterials() {
  const whole = JSON.parse(npm(['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only']));
  const { name } = JSON.parse(readFileSync('package.json', 'utf8'));
  return ofUsers(whole, name, bundled());
}

/** `name@version` of every package in a bundle. */
export function bundled() {
  const packages = new Set();
  for (const list of lists.filter((path) => existsSync(path))) {
    for (const part of readFileSync(list, 'utf8').split(`\n\n${'-'.repeat(80)}\n\n`)) {
      const [, name, version] = /^(\S+) (\S+) \(/.exec(part) ?? [];
      if (name !== undefined) packages.add(`${name}@${version}`);
    }
  }
  if (packages.size === 0) throw new Error('Nothing was built: run `npm run build` first');
  return packages;
}

/** Keeps what is installed for users, and what is bundled, which then counts as required. */
export function ofUsers(whole, name, inBundles) {
  const isDevelopment = ({ properties }) => properties.some(({ name }) => name === 'cdx:npm:package:development');
  const components = whole.components
    .filter((one) => !isDevelopment(one) || inBundles.has(`${one.name}@${one.version}`))
    .map((one) => (isDevelopment(one) ? asBundled(one) : one));
  const root = whole.metadata.component['bom-ref'];
  const kept = new Set([root, ...components.map((one) => one['bom-ref'])]);
  const dependencies = whole.dependencies
    .filter(({ ref }) => kept.has(ref))
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((other) => kept.has(other)) }));
  // npm takes the name of the folder.
  const metadata = { ...whole.metadata, component: { ...whole.metadata.component, name, type: 'application' } };
  return { ...whole, metadata, components, dependencies };
}

function asBundled(component) {
  const properties = [{ name: 'cdx:npm:package:bundled', value: 'true' }];
  return { ...component, scope: 'required', properties };
}

function npm(args) {
  const isWindows = process.platform === 'win32';
  const { status, stdout, stderr } = spawnSync('npm', args, {
    encoding: 'utf8',
    maxBuffer: 64 << 20,
    shell: isWindows,
  });
  if (status !== 0) throw new Error(`npm ${args[0]} ended with ${status}: ${stderr}`);
  return stdout;
}
