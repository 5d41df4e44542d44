import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { billOfMaterials, bundled } from '../../scripts/sbom.mjs';

test('the bill of materials names what is installed and what is bundled, and no tool of the development', () => {
  const bill = billOfMaterials();
  expect(bill.bomFormat).toBe('CycloneDX');
  expect(bill.metadata.component).toMatchObject({ name: 'toolhub', 'bom-ref': expect.stringMatching(/^toolhub@/) });
  const named = new Set(bill.components.map(({ name, version }) => `${name}@${version}`));
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as { dependencies: Record<string, string> };
  const expected = [...bundled(), ...Object.entries(dependencies).map(([name, version]) => `${name}@${version}`)];
  // One of each bundle: of the hub, and of the dashboard.
  for (const name of ['hono', 'react']) expect(bill.components.map((one) => one.name)).toContain(name);
  expect(expected.filter((one) => !named.has(one))).toEqual([]);
  expect(bill.components.filter(({ name }) => name === 'vitest' || name === 'typescript')).toEqual([]);
  const refs = new Set([bill.metadata.component['bom-ref'], ...bill.components.map((one) => one['bom-ref'])]);
  expect(
    bill.dependencies.flatMap(({ ref, dependsOn = [] }) => [ref, ...dependsOn]).filter((ref) => !refs.has(ref)),
  ).toEqual([]);
});
