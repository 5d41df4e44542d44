import type { OwnItems, OwnPrompt, OwnResource } from '../../core/settings/own-items.ts';
import { readElements, readPart } from '../document/read-part.ts';
import { found, type Path, type Report, unique } from '../document/report.ts';
import { promptShape, resourceShape } from './own-shape.ts';

/** Reads `prompts` and `resources`; undefined where none is enabled. */
export function readOwn(document: Readonly<Record<string, unknown>>, report: Report): OwnItems | undefined {
  const prompts = readList(document['prompts'], 'prompts', report, readPrompt);
  const resources = readList(document['resources'], 'resources', report, readResource);
  return prompts.length + resources.length > 0 ? { prompts, resources } : undefined;
}

function readList<T>(
  value: unknown,
  kind: 'prompts' | 'resources',
  report: Report,
  read: (raw: unknown, path: Path, keys: Map<string, Path>, report: Report) => T | undefined,
): T[] {
  const keys = new Map<string, Path>();
  return readElements(value, [kind], report).flatMap((raw, i) => read(raw, [kind, i], keys, report) ?? []);
}

function readPrompt(raw: unknown, path: Path, keys: Map<string, Path>, report: Report): OwnPrompt | undefined {
  const part = readPart(promptShape, raw, path, report);
  if (!part) return undefined;
  const { name, title, description, template, arguments: args = [], enabled = true } = part.data;
  if (!given({ name, template }, path, report) || name === undefined || template === undefined) return undefined;
  unique(keys, name, [...path, 'name'], 'prompts of the hub need different names', report);
  if (!enabled) return undefined;
  return {
    name,
    title,
    description,
    template,
    arguments: args.map((one) => ({
      name: one.name,
      title: one.title,
      description: one.description,
      required: one.required ?? false,
    })),
  };
}

function readResource(raw: unknown, path: Path, keys: Map<string, Path>, report: Report): OwnResource | undefined {
  const part = readPart(resourceShape, raw, path, report);
  if (!part) return undefined;
  const { uri, name, description, mimeType, content, enabled = true } = part.data;
  if (!given({ uri, content }, path, report) || uri === undefined || content === undefined) return undefined;
  unique(keys, uri, [...path, 'uri'], 'resources of the hub need different URIs', report);
  if (!enabled) return undefined;
  return { uri, name: name || uri, description, mimeType: mimeType || 'text/plain', content };
}

/** False where a member is missing, which is reported. */
function given(members: Readonly<Record<string, string | undefined>>, path: Path, report: Report): boolean {
  const missing = Object.entries(members).filter(([, value]) => value === undefined || value === '');
  for (const [member, value] of missing)
    if (member !== 'content' || value === undefined)
      report.problem([...path, member], `expected a text, found ${found(value, [])}`);
  return missing.every(([member, value]) => member === 'content' && value === '');
}
