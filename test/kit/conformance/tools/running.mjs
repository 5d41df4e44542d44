// Tools that say something while they run, and tools whose run others see.
import { setTimeout as sleep } from 'node:timers/promises';
import { said } from '../samples.mjs';

const stepMs = 50;

export const runningTools = [
  {
    name: 'test_tool_with_logging',
    description: 'Logs three times at info, 50 ms apart.',
    async run(_, ctx) {
      await ctx.mcpReq.log('info', 'Tool execution started');
      await sleep(stepMs);
      await ctx.mcpReq.log('info', 'Tool processing data');
      await sleep(stepMs);
      await ctx.mcpReq.log('info', 'Tool execution completed');
      return said('Logged three times.');
    },
  },
  {
    name: 'test_logging_tool',
    description: 'Logs once at every level.',
    async run(_, ctx) {
      for (const level of ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']) {
        await ctx.mcpReq.log(level, `A message at ${level}`, 'fixture');
      }
      return said('Logged at every level.');
    },
  },
  {
    name: 'test_tool_with_progress',
    description: 'Is at 0, 50 and 100 of 100, 50 ms apart.',
    async run(_, ctx) {
      const progressToken = ctx.mcpReq._meta?.progressToken;
      for (const progress of [0, 50, 100]) {
        if (progress > 0) await sleep(stepMs);
        if (progressToken === undefined) continue;
        await ctx.mcpReq.notify({
          method: 'notifications/progress',
          params: { progressToken, progress, total: 100, message: `At ${progress} of 100` },
        });
      }
      return said('Done, step by step.');
    },
  },
  {
    name: 'test_progress_burst',
    description: 'Is at 1 to 20 of 20 without a pause, and done in the same moment.',
    async run(_, ctx) {
      const progressToken = ctx.mcpReq._meta?.progressToken;
      if (progressToken === undefined) return said('No progress token was sent.');
      for (let progress = 1; progress <= 20; progress++) {
        await ctx.mcpReq.notify({
          method: 'notifications/progress',
          params: { progressToken, progress, total: 20 },
        });
      }
      return said('Done in a burst.');
    },
  },
  {
    name: 'test_reconnection',
    description: 'Closes the stream of its answer before it answers (old era, HTTP), so that the client must resume.',
    async run(_, ctx) {
      ctx.http?.closeSSE?.();
      await sleep(2 * stepMs);
      return said('Reached the client by resumption.');
    },
  },
  {
    name: 'test_wait_for_cancellation',
    description: 'Runs until it is cancelled, 10 s at most.',
    async run(_, ctx) {
      running += 1;
      try {
        await sleep(10_000, undefined, { signal: ctx.mcpReq.signal });
        return said('It was not cancelled.');
      } catch {
        cancelled += 1;
        return said('Cancelled.');
      } finally {
        running -= 1;
      }
    },
  },
  {
    name: 'test_cancellations',
    description: 'Tells how many calls of test_wait_for_cancellation run, and how many were cancelled.',
    run: () => said(JSON.stringify({ running, cancelled })),
  },
];

let running = 0;
let cancelled = 0;
