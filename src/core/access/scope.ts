/**
 * What an endpoint exposes (CONTRACT §5), as its path says; whether a group or server of that name exists is the view's
 * question.
 */
export type Scope =
  | { readonly kind: 'all' }
  /** A group by name or id, else the server of that name. */
  | { readonly kind: 'named'; readonly name: string }
  /** The server of that name, whatever groups are called. */
  | { readonly kind: 'server'; readonly name: string }
  /** `code`: tools are called by code that the client sends, and not one by one. */
  | { readonly kind: 'smart'; readonly group: string | undefined; readonly code?: true };

/**
 * The scope that the path after `/mcp` or `/sse` names (`''`, `/dev`, `/$smart`, `/$smart/dev`); undefined when it
 * cannot be decoded.
 */
export function scopeOf(rest: string): Scope | undefined {
  let from = 0;
  let to = rest.length;
  while (from < to && rest[from] === '/') from++;
  while (to > from && rest[to - 1] === '/') to--;
  const path = decoded(rest.slice(from, to));
  return path === undefined ? undefined : scopeFromId(path);
}

/** The scope that `scopeId` named. */
export function scopeFromId(path: string): Scope {
  if (path === '') return { kind: 'all' };
  if (path === '$smart') return { kind: 'smart', group: undefined };
  if (path === '$code') return { kind: 'smart', group: undefined, code: true };
  if (path.startsWith('$code/')) return { kind: 'smart', group: path.slice('$code/'.length), code: true };
  if (path.startsWith('$server/')) return { kind: 'server', name: path.slice('$server/'.length) };
  if (path.startsWith('$smart/')) return { kind: 'smart', group: path.slice('$smart/'.length) };
  return { kind: 'named', name: path };
}

/** One string per scope: what sessions are bound to and views are cached by. */
export function scopeId(scope: Scope): string {
  switch (scope.kind) {
    case 'all':
      return '';
    case 'named':
      return scope.name;
    case 'server':
      return `$server/${scope.name}`;
    case 'smart': {
      const own = scope.code ? '$code' : '$smart';
      return scope.group === undefined ? own : `${own}/${scope.group}`;
    }
  }
}

/** A part of a path without its percent-encoding; undefined when that is not valid. */
export function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}
