import { Durations } from './durations.ts';
import { metricLimits } from './limits.ts';
import type { Page } from './page.ts';

/** What one operation was, in words of which there are few. */
export interface Operation {
  readonly method: string;
  /** The tool or prompt. */
  readonly target: string | undefined;
  /** Whose part it was; undefined for a request of a client. */
  readonly server: string | undefined;
  /** What it failed with. */
  readonly error: string | undefined;
}

/** How long requests took, as clients see it and as the hub sees its servers: the metrics of the MCP conventions. */
export interface Operations {
  /** O(1), never throws. */
  count(operation: Operation, ms: number, isCall: boolean): void;
  describe(page: Page): void;
}

/** Upper bounds in seconds, as the conventions have them. */
const operationBounds: readonly number[] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

export function createOperations(): Operations {
  const requests = new Series();
  const calls = new Series();
  return {
    count: (operation, ms, isCall) => (isCall ? calls : requests).of(operation).add(ms),
    describe(page) {
      page.histogram('mcp.server.operation.duration', 'How long requests of clients took.', requests.all());
      page.histogram('mcp.client.operation.duration', 'How long servers took for their part.', calls.all());
    },
  };
}

class Series {
  readonly #byKey = new Map<string, { readonly operation: Operation | undefined; readonly durations: Durations }>();

  of(operation: Operation): Durations {
    const { method, target = '', server = '', error = '' } = operation;
    const key = `${method}\n${target}\n${server}\n${error}`;
    const known = this.#byKey.get(key);
    if (known) return known.durations;
    if (this.#byKey.size < metricLimits.operationSeries) return this.#add(key, operation);
    return this.#byKey.get('')?.durations ?? this.#add('', undefined);
  }

  all(): (readonly [Durations, Readonly<Record<string, string>>])[] {
    return [...this.#byKey.values()].map(({ operation, durations }) => [durations, labelsOf(operation)] as const);
  }

  #add(key: string, operation: Operation | undefined): Durations {
    const durations = new Durations(operationBounds);
    this.#byKey.set(key, { operation, durations });
    return durations;
  }
}

function labelsOf(operation: Operation | undefined): Readonly<Record<string, string>> {
  if (!operation) return { 'otel.metric.overflow': 'true' };
  const { method, target, server, error } = operation;
  return {
    'mcp.method.name': method,
    ...(server !== undefined && { 'toolhub.server.name': server }),
    ...(target !== undefined && { [targetNames[method] ?? 'gen_ai.tool.name']: target }),
    ...(method === 'tools/call' && { 'gen_ai.operation.name': 'execute_tool' }),
    ...(error !== undefined && { 'error.type': error }),
  };
}

const targetNames: Readonly<Record<string, string>> = { 'prompts/get': 'gen_ai.prompt.name' };
