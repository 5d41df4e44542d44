import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { load, loadAll } from 'js-yaml';

/** JSON of a manifest, looked at by path. */
export type Manifest = Readonly<Record<string, unknown>> & { readonly kind: string };

export const root = fileURLToPath(new URL('../../', import.meta.url));
export const base = 'deploy/kubernetes/base';
export const chart = 'deploy/helm/toolhub';

export const read = (path: string): string => readFileSync(`${root}${path}`, 'utf8');
export const yaml = (path: string): unknown => load(read(path));
export const manifestsOf = (text: string): Manifest[] =>
  loadAll(text).filter((document): document is Manifest => document !== null && document !== undefined);

/** What is in the folder of the kustomize base, as it is written. */
export const baseManifests = (): Manifest[] =>
  readdirSync(`${root}${base}`)
    .filter((name) => name !== 'kustomization.yaml')
    .flatMap((name) => manifestsOf(read(`${base}/${name}`)));

/** The value at a path like `spec.template.spec.containers.0.image`. Throws where there is none. */
export function at(document: unknown, path: string): unknown {
  let value = document;
  for (const key of path.split('.')) {
    value = typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
    if (value === undefined) throw new Error(`There is no ${key} of ${path}`);
  }
  return value;
}
