import { skipSpace, skipString } from '../../core/json/text.ts';
import { resolveRef } from '../../core/schema/ref.ts';

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
 * A schema of a tool (JSON text) at its place in an OpenAPI document: what `#/…` names in the schema is then at
 * `${pointer}/…`. References that lead nowhere or out of the schema become comments: no reader of the document shall
 * fetch what a tool server names. The rest stays byte for byte.
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

/**
 * A property that is called `$ref` has a schema as its value and not a text, so it is left alone. Goes from string to
 * string by hand: a regular expression runs out of stack on a description of megabytes, which any server can send.
 */
function replaceReferences(schema: string, replace: (key: string, target: string, text: string) => string): string {
  let replaced = '';
  let kept = 0;
  for (let at = schema.indexOf('"'); at !== -1;) {
    let end = skipString(schema, at);
    const colon = skipSpace(schema, end);
    const value = skipSpace(schema, colon + 1);
    if (schema[colon] === ':' && schema[value] === '"') {
      const key = locatingKey(schema.slice(at, Math.min(end, at + longestKey)));
      end = skipString(schema, value);
      if (key !== undefined) {
        const target = JSON.parse(schema.slice(value, end)) as string;
        replaced += schema.slice(kept, at) + replace(key, target, schema.slice(at, end));
        kept = end;
      }
    }
    at = schema.indexOf('"', end);
  }
  return replaced + schema.slice(kept);
}

/** Every letter of the longest, written as `\\u0024`. */
const longestKey = '"$dynamicAnchor"'.length * 6;

/** The keyword, however it is spelled; undefined for any other text, and for one that was cut. */
function locatingKey(text: string): string | undefined {
  if (!/^"(?:\$|\\u)[^"]*"$/.test(text)) return undefined;
  const key: unknown = JSON.parse(text);
  return typeof key === 'string' && locating.has(key) ? key : undefined;
}
