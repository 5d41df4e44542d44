import { randomUUID } from 'node:crypto';
import {
  type ServerRequestMethod,
  isServerRequestMethod,
  type ServerRequest,
} from '../../core/protocol/server-requests.ts';
import { type Edits, editObject, members, memberText } from '../../core/json/text.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import { mcpLimits } from '../limits.ts';

/** The questions of one `input_required` result, on their way to a client that answers requests. */
export interface Round {
  /** The call is over: the client need not answer any more, and `done` is not called. */
  withdraw(reason: string): void;
}

/** What came of a round: what the server is to get with the call made again, or why it cannot be. */
export type RoundOutcome =
  | { readonly kind: 'again'; readonly edits: Edits }
  | { readonly kind: 'failed'; readonly why: string };

interface RoundOptions {
  readonly server: string;
  /** Sends one question to the client. */
  readonly put: (ask: ServerRequest) => void;
  /** Called once, possibly before `beginRound` returns. */
  readonly done: (outcome: RoundOutcome) => void;
}

/**
 * Lets a client of the session era, which does not know `input_required` results, answer one that is given as text
 * (2026-07-28, Multi Round-Trip Requests). When the result has no questions, the server only wants the call again, and
 * gets it after a moment.
 */
export function beginRound(result: string, options: RoundOptions): Round {
  const { server, done } = options;
  const requestState = memberText(result, 'requestState') ?? null;
  const requests = memberText(result, 'inputRequests') ?? '{}';
  const again = (inputResponses: string | null): void =>
    done({ kind: 'again', edits: { inputResponses, requestState } });
  if (members(requests).length > 0) return putAll(requests, options, again);
  if (requestState === null) {
    done({ kind: 'failed', why: `Server "${server}" wants input and does not say what.` });
    return { withdraw: () => undefined };
  }
  const timer = setTimeout(() => again(null), mcpLimits.askAgainMs);
  return { withdraw: () => clearTimeout(timer) };
}

/**
 * Sends all input requests at once, and gathers the answers. One that fails ends the round: an answer can only be a
 * result.
 */
function putAll(requests: string, { server, put, done }: RoundOptions, answered: (responses: string) => void): Round {
  const open = new Set<ServerRequest>();
  const answers = new Map<string, string>();
  let over = false;

  function withdraw(reason: string): void {
    over = true;
    for (const ask of open) ask.withdrawn?.(reason);
    open.clear();
  }

  function fail(why: string): void {
    if (over) return;
    withdraw('another question was not answered');
    done({ kind: 'failed', why });
  }

  function settle(key: string, ask: ServerRequest, result: string): void {
    if (over || !open.delete(ask)) return;
    answers.set(key, result);
    if (open.size > 0) return;
    over = true;
    answered(objectText(answers));
  }

  function askOf(key: string, text: string, method: ServerRequestMethod): ServerRequest {
    const ask: ServerRequest = {
      server,
      method,
      ...paramsOf(text),
      answer(member, answer) {
        if (member === 'result') settle(key, ask, answer);
        else fail(`The client answered ${method} with an error: ${messageOf(answer)}`);
      },
      refuse: ({ message }) => fail(message),
      progressed: () => undefined,
      withdrawn: undefined,
    };
    return ask;
  }

  const serverRequests: ServerRequest[] = [];
  for (const member of members(requests)) {
    const text = requests.slice(member.start, member.end);
    const request: unknown = JSON.parse(text);
    const method = isObject(request) ? request['method'] : undefined;
    if (!isServerRequestMethod(method)) {
      fail(`Server "${server}" asks for something that no client knows.`);
      break;
    }
    serverRequests.push(askOf(member.key, text, method));
  }
  if (!over) {
    for (const ask of serverRequests) open.add(ask);
    // One that is refused at once ends the round before the next is sent.
    for (const ask of serverRequests) if (open.has(ask)) put(ask);
  }
  return { withdraw };
}

/** An elicitation by URL has an id in the session era, and none in later revisions. */
function paramsOf(request: string): Pick<ServerRequest, 'params' | 'paramsText'> {
  const given = memberText(request, 'params');
  const parsed: unknown = given === undefined ? undefined : JSON.parse(given);
  if (!isObject(parsed)) return { params: {}, paramsText: undefined };
  if (parsed['mode'] !== 'url' || parsed['elicitationId'] !== undefined) return { params: parsed, paramsText: given };
  const elicitationId = randomUUID();
  const paramsText = editObject(given ?? '{}', { elicitationId: JSON.stringify(elicitationId) });
  return { params: { ...parsed, elicitationId }, paramsText };
}

function objectText(members: ReadonlyMap<string, string>): string {
  return `{${[...members].map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(',')}}`;
}

function messageOf(error: string): string {
  const parsed: unknown = JSON.parse(error);
  const message = isObject(parsed) ? parsed['message'] : undefined;
  return typeof message === 'string' ? message.slice(0, 500) : 'no message';
}
