import { upstreamLimits } from '../../limits.ts';
import { type Conversion, convert } from './convert.ts';
import type { Schema } from './keywords.ts';
import { type Document, pointed } from './pointer.ts';

/**
 * Schemas of a document, made to stand alone as JSON Schema 2020-12. A reference is written out where it stands; one
 * that leads back to itself becomes an entry of `$defs` and a `$ref` to it, and so does every reference of a tool that
 * would grow too large. A reference out of the document, or to nothing, allows any value. All of it is bounded in size
 * and depth, because documents come from strangers.
 */
export interface Schemas {
  /**
   * One tool's schema: `build` composes it of parts it converts, and may be called several times. The parts'
   * definitions are added at its root.
   */
  compose(build: (convert: Convert) => Schema): Schema;
  /** References that could not be followed, so far. */
  readonly unresolved: ReadonlySet<string>;
}

/** Converts one schema of the document. `files`: binary strings are files of a form, given as base64. */
export type Convert = (source: unknown, files?: boolean) => Schema | boolean;

/** Opens the schemas of a document; `version30` tells its dialect. */
export function openSchemas(document: Document, version30: boolean): Schemas {
  const shared = { document, version30, recursive: new Set<string>(), unresolved: new Set<string>() };
  /** What may still be written, and what may still be spent on attempts to write references out. */
  let nodesLeft: number = upstreamLimits.openapiDocumentNodes;
  let attemptsLeft: number = upstreamLimits.openapiDocumentNodes;

  function compose(build: (convert: Convert) => Schema): Schema {
    // Each restart has found one more recursive reference; many of them in one tool are better all written as
    // definitions.
    for (let attempt = 0; attempt < 16; attempt++) {
      const run = newRun(true, Math.min(upstreamLimits.openapiInlineNodes, nodesLeft, attemptsLeft));
      const schema = finish(run, build);
      if (!run.overflow && !run.restart) return charged(run, schema);
      attemptsLeft = Math.max(0, attemptsLeft - (run.allowed - run.left));
      if (run.overflow) break;
    }
    const run = newRun(false, Math.min(upstreamLimits.openapiToolNodes, nodesLeft));
    return charged(run, finish(run, build));
  }

  function newRun(inline: boolean, allowed: number): Conversion {
    const found = { definitions: new Map(), names: new Map(), sameValue: new Map() };
    return { ...shared, ...found, inline, allowed, left: allowed, overflow: false, restart: false };
  }

  function charged(run: Conversion, schema: Schema): Schema {
    nodesLeft = Math.max(0, nodesLeft - (run.allowed - run.left));
    return schema;
  }

  return { compose, unresolved: shared.unresolved };
}

function finish(run: Conversion, build: (convert: Convert) => Schema): Schema {
  const root = build((source, files = false) =>
    convert(run, source, { depth: 0, files, inside: [], definition: undefined }),
  );
  // Converting one definition may ask for further ones; a Map lets them be added while it is walked.
  for (const [key, definition] of run.definitions) {
    const place = { depth: 0, files: definition.files, inside: [key], definition: key };
    definition.schema = convert(run, pointed(run.document, definition.reference), place);
  }
  breakCircles(run);
  const definitions = [...run.definitions.values()].map(({ name, schema }) => [name, schema] as const);
  return definitions.length === 0 ? root : { ...root, $defs: Object.fromEntries(definitions) };
}

/**
 * A definition that leads back to itself for the same value (`A: {allOf: [A]}`) never ends when it is checked: it
 * allows any value instead.
 */
function breakCircles({ definitions, sameValue }: Conversion): void {
  const state = new Map<string, 'open' | 'done'>();
  for (const root of definitions.keys()) {
    if (state.has(root)) continue;
    const path = [{ key: root, targets: sameValue.get(root)?.values() }];
    state.set(root, 'open');
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const next = top.targets?.next().value;
      if (next === undefined) {
        state.set(top.key, 'done');
        path.pop();
        continue;
      }
      const seen = state.get(next);
      const target = definitions.get(next);
      if (seen === 'open' && target !== undefined) target.schema = {};
      if (seen !== undefined) continue;
      state.set(next, 'open');
      path.push({ key: next, targets: sameValue.get(next)?.values() });
    }
  }
}
