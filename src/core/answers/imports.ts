import { problem } from './failures.ts';
import { anyObject, flag, listOf, object, oneOf, type Schema, type Shape, text } from './schema.ts';

// What the API answers to settings of other clients and to bundles.

const defaultValue: Schema<string | number | boolean | readonly string[]> = {
  type: ['string', 'number', 'boolean', 'array'],
};

/** A value that a bundle or an imported server asks for. */
export const requiredConfig = object(
  {
    key: text,
    title: text,
    type: oneOf(['string', 'number', 'boolean', 'directory', 'file']),
    description: text,
    sensitive: flag,
  },
  {
    default: defaultValue,
  },
);
export type RequiredConfig = Shape<typeof requiredConfig>;

export const importedServer = object(
  {
    name: text,
    status: oneOf(['created', 'ready', 'exists', 'invalid']),
    message: text,
    config: anyObject,
    requiredConfig: listOf(requiredConfig),
  },
  {
    errors: listOf(problem),
  },
);
export type ImportedServer = Shape<typeof importedServer>;

/** What an import would do, or has done. */
export const importAnswer = object({
  dryRun: flag,
  format: text,
  servers: listOf(importedServer),
  notes: listOf(problem),
  problems: listOf(problem),
});
export type ImportAnswer = Shape<typeof importAnswer>;
