import { type Edits, editObject, inFront, memberText } from '../../../core/json/text.ts';
import { memoizeLast } from '../../../core/memoize-last.ts';
import { isObject } from '../../../core/protocol/rpc.ts';
import {
  headerValue,
  metaKeys,
  namedBy,
  type RequestFacts,
  statelessRevision,
} from '../../../core/protocol/stateless.ts';
import { traceEdits, traceKeys, traceMembers } from '../../../core/tracing.ts';
import { oneLine } from '../../channels/messages.ts';
import type { Pending } from './pending.ts';

/** A request before it is written: `params` is JSON text. */
export interface ToSend {
  readonly method: string;
  readonly params: string | undefined;
  readonly facts: RequestFacts;
}

/** What of it stays until it is answered. */
export type Written = Pick<Pending, 'text' | 'headers'>;

/** Writes requests as the era of the server wants them. */
export class RequestWriter {
  /** The negotiation found a server without sessions. */
  isStateless = false;
  readonly hasHeaders: boolean;
  readonly #envelope: Envelope;

  /** `hasHeaders`: what is sent may have headers of its own. */
  constructor(envelope: Envelope, hasHeaders: boolean) {
    this.#envelope = envelope;
    this.hasHeaders = hasHeaders;
  }

  /** Before the era is known, only the request that asks for it is sent in the newer way. */
  write(id: number, { method, params, facts }: ToSend): Written {
    if (!this.isStateless && method !== 'server/discover')
      return { text: requestText(id, method, params), headers: this.hasHeaders ? traceHeaders(facts) : undefined };
    const envelope = this.#envelope;
    const text = requestText(id, method, envelope.params(params, facts));
    if (!this.hasHeaders) return { text, headers: undefined };
    const version = this.isStateless ? [] : ['mcp-protocol-version', statelessRevision];
    const trace = traceHeaders(facts)?.() ?? [];
    return { text, headers: () => [...version, ...envelope.headers(method, params, facts), ...trace] };
  }
}

/** The trace of the request also in its headers, for what stands in front of the server and reads no bodies. */
function traceHeaders({ trace }: RequestFacts): (() => string[]) | undefined {
  if (!trace) return undefined;
  const { traceparent, tracestate } = trace;
  return () =>
    tracestate === undefined
      ? [traceKeys.parent, traceparent]
      : [traceKeys.parent, traceparent, traceKeys.state, tracestate];
}

function requestText(id: number, method: string, params: string | undefined): string {
  const tail = params === undefined ? '' : `,"params":${oneLine(params)}`;
  return `{"jsonrpc":"2.0","id":${id},"method":${quoted(method)}${tail}}`;
}

const quoted = memoizeLast((text) => JSON.stringify(text));

/** What every request to a server without sessions carries (2026-07-28, `_meta`; Streamable HTTP, Request metadata). */
export interface Envelope {
  /**
   * `params` with what the request says of itself in `_meta`. Whatever a client said there of itself is replaced;
   * everything else stays as it is written.
   */
  params(params: string | undefined, facts: RequestFacts): string;
  /** The headers that repeat parts of the request: names and values in turn. */
  headers(method: string, params: string | undefined, facts: RequestFacts): string[];
}

/** `version`: the hub's. `paramHeaders` gives the headers in which arguments of a tool travel too. */
export function createEnvelope(
  version: string,
  paramHeaders: (tool: string, args: unknown) => readonly string[],
): Envelope {
  const clientInfo = JSON.stringify({ name: 'toolhub', title: 'Tool Hub', version });
  const fixed = `${JSON.stringify(metaKeys.protocolVersion)}:"${statelessRevision}",${JSON.stringify(metaKeys.clientInfo)}:${clientInfo}`;

  function fresh({ capabilities = '{}', logLevel, trace }: RequestFacts): string {
    const level = logLevel === undefined ? '' : `,${JSON.stringify(metaKeys.logLevel)}:${JSON.stringify(logLevel)}`;
    const traced = trace ? `,${traceMembers(trace)}` : '';
    return `{${fixed},${JSON.stringify(metaKeys.clientCapabilities)}:${capabilities}${level}${traced}}`;
  }

  function edits({ capabilities = '{}', logLevel, trace }: RequestFacts): Edits {
    return {
      ...(trace && traceEdits(trace)),
      [metaKeys.protocolVersion]: JSON.stringify(statelessRevision),
      [metaKeys.clientInfo]: clientInfo,
      [metaKeys.clientCapabilities]: capabilities,
      [metaKeys.logLevel]: logLevel === undefined ? null : JSON.stringify(logLevel),
    };
  }

  return {
    params(params, facts) {
      if (params === undefined) return `{"_meta":${fresh(facts)}}`;
      // Most requests have no `_meta`, and to look for the word (which could be spelled with \u) costs next to nothing.
      if (!params.includes('_meta') && !params.includes('\\u')) return inFront(params, `"_meta":${fresh(facts)}`);
      const meta = memberText(params, '_meta');
      const isMeta = meta !== undefined && isObject(JSON.parse(meta));
      return editObject(params, { _meta: isMeta ? editObject(meta, edits(facts)) : fresh(facts) });
    },
    headers(method, params, facts) {
      const headers = ['mcp-method', headerValue(method)];
      const member = namedBy.get(method);
      if (member === undefined) return headers;
      const name = facts.name ?? nameIn(params, member);
      headers.push('mcp-name', headerValue(name));
      if (method === 'tools/call') headers.push(...paramHeaders(name, facts.args));
      return headers;
    },
  };
}

function nameIn(params: string | undefined, member: string): string {
  const name: unknown = JSON.parse(memberText(params ?? '{}', member) ?? '""');
  return typeof name === 'string' ? name : '';
}
