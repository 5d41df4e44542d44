import { Durations } from './durations.ts';
import { metricLimits } from './limits.ts';
import type { Page } from './page.ts';

/** What was done, in words of which there are few. */
export interface Operation {
  readonly method: string;
  /** The tool or prompt. */
  readonly target: string | undefined;
  /** Whose part it was; undefined for a request of a client. */
  readonly server: string | undefined;
}

/** A session that is over. */
export interface EndedSession {
  readonly revision: string | undefined;
  readonly transport: 'pipe' | 'tcp' | undefined;
  /** Whose it was; undefined for that of a client. */
  readonly server: string | undefined;
  /** Why it broke off. */
  readonly error: string | undefined;
}

/**
 * How long requests and sessions took, as clients see it and as the hub sees its servers: the metrics of the MCP
 * conventions.
 */
export interface Operations {
  /** O(1), never throws. `error`: what it failed with. */
  count(operation: Operation, error: string | undefined, ms: number): void;
  /** The same for a request that the hub sent: to a server, or to a client for a server. */
  countSent(operation: Operation, error: string | undefined, ms: number): void;
  sessionEnded(session: EndedSession, ms: number): void;
  describe(page: Page): void;
}

/** Upper bounds in seconds, as the conventions have them. */
const operationBounds: readonly number[] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

export function createOperations(): Operations {
  const [received, sent, ofClients, ofServers] = [new Series(), new Series(), new Series(), new Series()];
  const counted = (series: Series): Operations['count'] => {
    return ({ method, target, server }, error, ms) => {
      const known = series.find(method, target, server, error);
      const durations = known ?? series.add([method, target, server, error], operationLabels);
      durations.add(ms);
    };
  };
  return {
    count: counted(received),
    countSent: counted(sent),
    sessionEnded({ revision, transport, server, error }, ms) {
      const series = server === undefined ? ofClients : ofServers;
      const known = series.find(revision, transport, server, error);
      // The time of day that a session began at is in the future after the clock was put back.
      (known ?? series.add([revision, transport, server, error], sessionLabels)).add(Math.max(0, ms));
    },
    describe(page) {
      page.histogram('mcp.server.operation.duration', 'How long requests of clients took.', received.all);
      page.histogram('mcp.client.operation.duration', 'How long servers took for their part.', sent.all);
      page.histogram('mcp.server.session.duration', 'How long sessions of clients lasted.', ofClients.all);
      page.histogram('mcp.client.session.duration', 'How long sessions with servers lasted.', ofServers.all);
    },
  };
}

type Word = string | undefined;
type Words = readonly [Word, Word, Word, Word];
type Labels = Readonly<Record<string, string>>;
type Level<Next> = Map<Word, Next>;

/** Durations by four words. Found word by word: to make one text of them would take longer than the rest. */
class Series {
  readonly all: (readonly [Durations, Labels])[] = [];
  readonly #first: Level<Level<Level<Level<Durations>>>> = new Map();
  #others: Durations | undefined;

  find(a: Word, b: Word, c: Word, d: Word): Durations | undefined {
    return this.#first.get(a)?.get(b)?.get(c)?.get(d);
  }

  add(words: Words, labelsOf: (words: Words) => Labels): Durations {
    if (this.all.length >= metricLimits.operationSeries) {
      this.#others ??= this.#listed({ 'otel.metric.overflow': 'true' });
      return this.#others;
    }
    const durations = this.#listed(labelsOf(words));
    const [a, b, c, d] = words;
    next(next(next(this.#first, a), b), c).set(d, durations);
    return durations;
  }

  #listed(labels: Labels): Durations {
    const durations = new Durations(operationBounds);
    this.all.push([durations, labels]);
    return durations;
  }
}

function next<Next extends Map<Word, unknown>>(level: Level<Next>, word: Word): Next {
  const known = level.get(word);
  if (known) return known;
  const made = new Map() as Next;
  level.set(word, made);
  return made;
}

function operationLabels([method = '', target, server, error]: Words): Labels {
  return {
    'mcp.method.name': method,
    ...(server !== undefined && { 'toolhub.server.name': server }),
    ...(target !== undefined && { [targetNames[method] ?? 'gen_ai.tool.name']: target }),
    ...(method === 'tools/call' && { 'gen_ai.operation.name': 'execute_tool' }),
    ...(error !== undefined && { 'error.type': error }),
  };
}

const targetNames: Readonly<Record<string, string>> = { 'prompts/get': 'gen_ai.prompt.name' };

function sessionLabels([revision, transport, server, error]: Words): Labels {
  return {
    ...(revision !== undefined && { 'mcp.protocol.version': revision }),
    ...(transport !== undefined && { 'network.transport': transport }),
    ...(transport === 'tcp' && { 'network.protocol.name': 'http' }),
    ...(server !== undefined && { 'toolhub.server.name': server }),
    ...(error !== undefined && { 'error.type': error }),
  };
}
