import { resolveRef } from '../core/schema-ref.ts';

/** Every string of a JSON text in turn; with what follows where it is a key, and its value where that is a string too. */
const strings = /("[^"\\]*(?:\\.[^"\\]*)*")(?:(\s*:\s*)("[^"\\]*(?:\\.[^"\\]*)*")?)?/g;

const locating: ReadonlySet<unknown> = new Set('$ref $dynamicRef $recursiveRef $id $anchor $dynamicAnchor'.split(' '));

/** True when a schema, given as JSON text, says where it or a part of it is to be found. */
export function hasReferences(schema: string): boolean {
  let found = false;
  replaceReferences(schema, (_key, _target, text) => {
    found = true;
    return text;
  });
  return found;
}

/**
 * A schema of a tool (JSON text) at its place in an OpenAPI document: what `#/…` names in the schema is then at `${pointer}/…`. References that lead nowhere
 * or out of the schema become comments: no reader of the document shall fetch what a tool server names. The rest stays byte for byte.
 */
export function rebased(schema: string, pointer: string): string {
  let root: { value: unknown } | undefined;
  return replaceReferences(schema, (key, target) => {
    root ??= { value: JSON.parse(schema) };
    const leadsInside = key === '$ref' && target.startsWith('#') && resolveRef(root.value, target) !== undefined;
    const [name, text] = leadsInside ? ['$ref', pointer + target.slice(1)] : ['$comment', `${key} ${target}`];
    return `"${name}":${JSON.stringify(text)}`;
  });
}

/** A property that is called `$ref` has a schema as its value and not a text, so it is left alone. */
function replaceReferences(schema: string, replace: (key: string, target: string, text: string) => string): string {
  return schema.replace(strings, (text: string, key: string, _colon: string | undefined, value: string | undefined) => {
    // Keys may be written with escapes: "\u0024ref".
    if (value === undefined || !/^"(?:\$|\\u)/.test(key)) return text;
    const name: unknown = JSON.parse(key);
    return typeof name === 'string' && locating.has(name) ? replace(name, JSON.parse(value) as string, text) : text;
  });
}
