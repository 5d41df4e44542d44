import { coreLimits } from '../limits.ts';

/** One part of a template: literal text, then what an expression may expand to until the next part. */
interface Part {
  readonly literal: string;
  readonly expression: 'segment' | 'any' | 'maybe' | 'end';
}

const kept = new Map<string, readonly Part[]>();

/**
 * Whether a URI can be an expansion of a URI template (RFC 6570). Exact about what stands between expressions, generous
 * inside them: this decides which server is asked, and the server decides what exists. One pass, no pattern engine:
 * both texts come from strangers.
 */
export function matchesTemplate(template: string, uri: string): boolean {
  if (uri.length > coreLimits.uriChars || template.length > coreLimits.uriChars) return false;
  const parts = partsOf(template);
  const first = parts[0];
  if (!first || !uri.startsWith(first.literal)) return false;
  let at = first.literal.length;
  for (let i = 0; i < parts.length; i++) {
    const { expression } = parts[i] as Part;
    if (expression === 'end') return at === uri.length;
    const next = parts[i + 1] as Part;
    const least = expression === 'maybe' ? 0 : 1;
    // What ends the template ends the URI, and may also occur before.
    const last = uri.endsWith(next.literal) ? uri.length - next.literal.length : -1;
    const end = next.expression === 'end' ? last : uri.indexOf(next.literal, at + least);
    if (end < at + least) return false;
    if (expression === 'segment' && /[/?#]/.test(uri.slice(at, end))) return false;
    at = end + next.literal.length;
  }
  return false;
}

function partsOf(template: string): readonly Part[] {
  let parts = kept.get(template);
  if (!parts) {
    if (kept.size >= coreLimits.uriTemplates) kept.clear();
    parts = parse(template);
    kept.set(template, parts);
  }
  return parts;
}

function parse(template: string): Part[] {
  const parts: Part[] = [];
  let rest = template;
  for (;;) {
    const open = rest.indexOf('{');
    const close = open === -1 ? -1 : rest.indexOf('}', open);
    if (close === -1) return [...parts, { literal: rest, expression: 'end' }];
    parts.push({ literal: rest.slice(0, open), expression: expressionKind(rest.slice(open + 1, close)) });
    rest = rest.slice(close + 1);
  }
}

function expressionKind(expression: string): Part['expression'] {
  const operator = expression[0] ?? '';
  if ('?&#/.;'.includes(operator)) return 'maybe';
  return operator === '+' || expression.endsWith('*') ? 'any' : 'segment';
}
