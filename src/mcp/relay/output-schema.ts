import { toolOf } from '../../core/access/decision.ts';
import type { Target } from '../../core/access/view.ts';
import type { Catalogue, Item } from '../../core/catalogue.ts';
import { editObject, elements, memberText } from '../../core/json/text.ts';
import { compileSchema, type SchemaCheck } from '../../core/schema/check.ts';

/**
 * What tools say of their results (`outputSchema`). Clients may hold a result against it, `format` included, and fail
 * the whole call where it does not fit.
 */

const checks = new WeakMap<Item, SchemaCheck>();

/** The check of a tool's `structuredContent`; undefined where it has no `outputSchema`, or is not in the catalogue. */
export function outputCheck({ offers }: Catalogue, { server, key }: Target): SchemaCheck | undefined {
  const tool = toolOf(offers.get(server)?.tools, key);
  const schema = tool && memberText(tool.text, 'outputSchema');
  if (!tool || schema === undefined) return undefined;
  const check = checks.get(tool) ?? compileSchema(JSON.parse(schema), Date.now, true);
  checks.set(tool, check);
  return check;
}

/**
 * The masked result of a tool as its caller can take it, as JSON text: the same, or an error without the structured
 * content where masking changed that and it does not fit the output schema. What cannot be checked counts as fitting.
 */
export function fittingResult(given: string, masked: string, catalogue: Catalogue, target: Target): string {
  const structured = memberText(masked, 'structuredContent');
  if (structured === undefined || structured === memberText(given, 'structuredContent')) return masked;
  const check = outputCheck(catalogue, target);
  if (!check || check(JSON.parse(structured)).problems.length === 0) return masked;
  const told = JSON.stringify({ type: 'text', text: leftOut });
  const content = [told, ...elements(memberText(masked, 'content') ?? '[]')];
  return editObject(masked, { content: `[${content.join(',')}]`, structuredContent: null, isError: 'true' });
}

const leftOut =
  'Secrets in this result were masked. With them masked, its structured content does not fit the output schema of the tool any more, and was left out. The tool has run: do not make the call again to get it.';
