import { coreLimits } from '../core/limits.ts';
import { errorResponseText, rpcErrors } from '../core/protocol/rpc.ts';
import type { Reply } from './reply.ts';

/**
 * Gathers the answers to the requests of one batch (2025-03-26, Streamable HTTP) into one array, sent when the last is
 * there. `ids` are those of the requests, as JSON text, and the replies are in their order; the order of the answers is
 * that of their completion. Answers that would make the array larger than one message may be become errors: a hundred
 * short requests can each ask for the longest list there is.
 */
export function batchReplies(whole: Reply, ids: readonly string[]): readonly Reply[] {
  const answers: string[] = [];
  let chars = 0;
  const replies = ids.map(one);

  function one(id: string): Reply {
    let answered = false;
    const answer = (text: string): void => {
      if (answered) return;
      answered = true;
      const fits = chars + text.length <= coreLimits.upstreamMessageBytes;
      answers.push(fits ? text : errorResponseText(id, rpcErrors.invalidRequest, tooLarge));
      if (fits) chars += text.length;
      if (answers.length === ids.length) whole.answer(`[${answers.join(',')}]`);
    };
    return {
      notify: (text) => whole.notify(text),
      ask: (text) => whole.ask?.(text) ?? false,
      answer,
      answerLarge: (head, result, tail) => answer(head + result.toString() + tail),
      answerBytes: (head, body, tail) => answer(head + body.toString() + tail),
      gone: undefined,
    };
  }

  whole.gone = () => {
    for (const reply of replies) reply.gone?.();
  };
  return replies;
}

const tooLarge = 'The answers of this batch are too large together. Send this request by itself.';
