/**
 * The path of a member or element beneath `path` (`filters[0].name`); names that would blur the path are quoted:
 * `a["b.c"]`.
 */
export function childPath(path: string, key: string | number): string {
  if (typeof key === 'number') return `${path}[${key}]`;
  if (/^[A-Za-z_$][\w$-]*$/.test(key)) return path === '' ? key : `${path}.${key}`;
  return `${path}[${JSON.stringify(key)}]`;
}

export function jsonPath(keys: readonly PropertyKey[]): string {
  return keys.reduce<string>((path, key) => childPath(path, typeof key === 'number' ? key : String(key)), '');
}
