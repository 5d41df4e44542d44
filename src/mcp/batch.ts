import type { Reply } from './reply.ts';

/**
 * Gathers the answers to the requests of one batch (2025-03-26, Streamable HTTP) into one array, sent when the last is there. `replies` are for the requests in
 * their order; the order of the answers is that of their completion.
 */
export function batchReplies(whole: Reply, count: number): readonly Reply[] {
  const answers: string[] = [];
  const replies = Array.from({ length: count }, () => one());

  function one(): Reply {
    let answered = false;
    const answer = (text: string): void => {
      if (answered) return;
      answered = true;
      answers.push(text);
      if (answers.length === count) whole.answer(`[${answers.join(',')}]`);
    };
    return {
      notify: (text) => whole.notify(text),
      answer,
      answerBytes: (head, body, tail) => answer(head + body.toString() + tail),
      gone: undefined,
    };
  }

  whole.gone = () => {
    for (const reply of replies) reply.gone?.();
  };
  return replies;
}
