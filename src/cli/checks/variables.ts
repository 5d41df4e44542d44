import type { Check } from './check.ts';

/**
 * One warning per `${NAME}` that is not set: it became empty text, and the server may fail in a way that does not say
 * why.
 */
export function checkVariables(
  servers: readonly { readonly name: string; readonly missing: readonly string[] }[],
): Check[] {
  const users = new Map<string, string[]>();
  for (const { name, missing } of servers) {
    for (const variable of missing) users.set(variable, [...(users.get(variable) ?? []), name]);
  }
  if (users.size === 0)
    return [{ name: 'variables', status: 'ok', detail: 'every ${VARIABLE} in the settings is set' }];
  return [...users].map(([variable, names]) => ({
    name: `\${${variable}}`,
    status: 'warn',
    detail: `not set; used by ${names.join(', ')}`,
    fix: `Set ${variable} in the environment of the hub or in .env, or give a default: \${${variable}:-default}.`,
  }));
}
