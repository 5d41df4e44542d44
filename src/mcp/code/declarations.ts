import { isObject } from '../../core/protocol/rpc.ts';

/** How deep a schema is written out; below it is `unknown`. */
const depth = 4;

/**
 * A tool as a line of TypeScript, for models that write code: how it is called, with which arguments, and what comes
 * back where the tool says it. `tool` is parsed JSON.
 */
export function declarationOf(server: string, name: string, tool: Readonly<Record<string, unknown>>): string {
  const { inputSchema, outputSchema } = tool;
  const args = typeOf(inputSchema, depth);
  const isOptional =
    !isObject(inputSchema) || !Array.isArray(inputSchema['required']) || inputSchema['required'].length === 0;
  const result = isObject(outputSchema) ? typeOf(outputSchema, depth) : 'any';
  return `tools${member(server)}${member(name)}(args${isOptional ? '?' : ''}: ${args}): Promise<${result}>`;
}

function member(name: string): string {
  return isWord(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
}

function isWord(name: string): boolean {
  return /^[A-Za-z_$][\w$]*$/.test(name);
}

function typeOf(schema: unknown, left: number): string {
  if (!isObject(schema) || left === 0) return 'unknown';
  const { type, enum: values, const: value, anyOf, oneOf } = schema;
  if (value !== undefined) return JSON.stringify(value);
  if (Array.isArray(values)) return union(values.map((one) => JSON.stringify(one)));
  const choices = Array.isArray(anyOf) ? anyOf : oneOf;
  if (Array.isArray(choices)) return union(choices.map((one) => typeOf(one, left - 1)));
  if (Array.isArray(type)) return union(type.map((one) => typeOf({ ...schema, type: one }, left)));
  switch (type) {
    case 'string':
    case 'boolean':
    case 'null':
      return type;
    case 'number':
    case 'integer':
      return 'number';
    case 'array':
      return `${arrayItem(schema, left)}[]`;
  }
  return type === 'object' || isObject(schema['properties']) ? objectType(schema, left) : 'unknown';
}

function arrayItem(schema: Readonly<Record<string, unknown>>, left: number): string {
  const item = typeOf(schema['items'], left - 1);
  return item.includes(' | ') ? `(${item})` : item;
}

function objectType({ properties, required }: Readonly<Record<string, unknown>>, left: number): string {
  if (!isObject(properties)) return 'Record<string, unknown>';
  const needed = new Set(Array.isArray(required) ? required : []);
  const members = Object.entries(properties).map(([name, schema]) => {
    const key = isWord(name) ? name : JSON.stringify(name);
    const { description } = isObject(schema) ? schema : {};
    const words = typeof description === 'string' ? ` /* ${description.replaceAll('*/', '* /').slice(0, 120)} */` : '';
    return `${key}${needed.has(name) ? '' : '?'}: ${typeOf(schema, left - 1)}${words}`;
  });
  return members.length === 0 ? '{}' : `{ ${members.join('; ')} }`;
}

/** At most a dozen, so that a long list of values does not fill the context. */
function union(types: readonly string[]): string {
  const some = [...new Set(types)];
  return some.length > 12 ? `${some.slice(0, 12).join(' | ')} | unknown` : some.join(' | ') || 'unknown';
}
